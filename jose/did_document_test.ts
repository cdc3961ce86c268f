import { assertEquals } from "@std/assert";
import { readDidDocument } from "@sig/jose";
import { expectSigError } from "./testdata/expect.ts";
import { testJwk } from "./testdata/keys.ts";

const DID = "did:web:issuer.example";
const { d: secret, ...a } = await testJwk("a");
const { d: _, ...b } = await testJwk("b");

function method(id: string, jwk: unknown): Readonly<Record<string, unknown>> {
  return { id, type: "JsonWebKey2020", controller: DID, publicKeyJwk: jwk };
}

function read(
  document: Readonly<Record<string, unknown>>,
): readonly (readonly [string, string])[] {
  return [...readDidDocument({ id: DID, ...document }, DID)];
}

Deno.test("absolute and relative references and embedded methods authorise", () => {
  for (const id of [`${DID}#k`, "#k"]) {
    for (const reference of [`${DID}#k`, "#k"]) {
      assertEquals(
        read({
          verificationMethod: [method(id, a), method(`${DID}#b`, b)],
          assertionMethod: [reference, reference],
        }),
        [["k", a.x]],
      );
    }
    assertEquals(read({ assertionMethod: [method(id, a)] }), [["k", a.x]]);
  }
});

Deno.test("what is not in assertionMethod authorises nothing", () => {
  const verificationMethod = [method("#k", a)];
  const authentication = ["#k"];
  for (
    const more of [
      {},
      { authentication },
      { assertionMethod: [] },
      { assertionMethod: ["#other", "k", DID, `${DID}/k`, "", "#", `${DID}#`] },
      { assertionMethod: ["did:web:other.example#k", `${DID}.evil#k`] },
      { assertionMethod: [`${DID}?a#k`, `${DID.toUpperCase()}#k`] },
    ]
  ) assertEquals(read({ verificationMethod, ...more }), []);
});

Deno.test("authentication is read on request", () => {
  const document = {
    id: DID,
    verificationMethod: [method("#k", a), method("#b", b)],
    assertionMethod: ["#k"],
    authentication: ["#b"],
  };
  assertEquals(
    [...readDidDocument(document, DID, { relationship: "authentication" })],
    [["b", b.x]],
  );
});

Deno.test("other kinds of keys and methods of other DIDs are left aside", () => {
  assertEquals(
    read({
      verificationMethod: [
        method("#ec", { kty: "EC", crv: "P-256", x: "AA", y: "AA" }),
        { id: "#multi", type: "Multikey", publicKeyMultibase: "z6Mk" },
        method("did:web:other.example#k", a),
        method("#__proto__", a),
      ],
      assertionMethod: [
        "#ec",
        "#multi",
        "#k",
        "did:web:other.example#k",
        "#__proto__",
      ],
    }),
    [["__proto__", a.x]],
  );
});

Deno.test("another id is refused", async () => {
  for (const id of [undefined, null, 5, `${DID}/`, `${DID}#`, "did:web:x"]) {
    const error = await expectSigError(
      () => readDidDocument({ id }, DID),
      "invalid_did_document",
      `Cannot use DID document: /id: its id must be "${DID}"`,
    );
    assertEquals(error.context.pointer, "/id");
  }
});

Deno.test("a malformed document is refused", async () => {
  const okp = { kty: "OKP", crv: "Ed25519" };
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ verificationMethod: {} }, "verificationMethod must be an array"],
    [{ verificationMethod: null }, "verificationMethod must be an array"],
    [{ assertionMethod: "#k" }, "assertionMethod must be an array"],
    [{ verificationMethod: ["#k"] }, "a method must be an object"],
    [{ verificationMethod: [{}] }, "a method's id must be a string"],
    [{ assertionMethod: [5] }, "it must be a reference or a method"],
    [{ assertionMethod: [null] }, "it must be a reference or a method"],
    [{ assertionMethod: [{}] }, "a method's id must be a string"],
    [
      { verificationMethod: [method("#k", "x")] },
      "publicKeyJwk must be an object",
    ],
    [{ verificationMethod: [method("#k", okp)] }, "x must be base64url of 32"],
    [
      { verificationMethod: [method("#k", { ...a, x: `${a.x}=` })] },
      "x must be base64url of 32 bytes",
    ],
    [
      { verificationMethod: [method("#k", a), method(`${DID}#k`, b)] },
      "stands for two keys",
    ],
    [
      {
        verificationMethod: [method("#k", a)],
        assertionMethod: [method("#k", b)],
      },
      '/assertionMethod/0/id: "#k" stands for two keys',
    ],
    [
      { verificationMethod: [method("#k", { ...a, d: secret })] },
      "/verificationMethod/0/publicKeyJwk: it publishes a private key",
    ],
  ];
  for (const [document, says] of cases) {
    await expectSigError(
      () => readDidDocument({ id: DID, ...document }, DID),
      "invalid_did_document",
      says,
    );
  }
  for (const value of [null, [], "did", 5]) {
    await expectSigError(
      () => readDidDocument(value, DID),
      "invalid_did_document",
      "Cannot use DID document: it must be one JSON object",
    );
  }
});
