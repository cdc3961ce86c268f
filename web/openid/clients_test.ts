import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { addClient, removeClient, rotateSecret } from "./edit_clients.ts";
import { readClients } from "./clients.ts";

const ENTRY = { client_id: "app", redirect_uris: ["https://app.example/cb"] };
const SHA256 = "A".repeat(43);

/** Cases with one fault: the member, its value, and part of the message. */
const FAULTS: readonly (readonly [string, unknown, string, object?])[] = [
  ["client_idd", 1, ": there is no member"],
  ["client_id", "a b", ": it must be letters"],
  ["client_id", "", ": it must be letters"],
  ["redirect_uris", [], ": it must have 1 to 32 items"],
  ["redirect_uris", ["http://app.example/cb"], "/0: it must be an https URL"],
  ["redirect_uris", ["/cb"], "/0: it must be an https URL"],
  [
    "redirect_uris",
    ["https://a.example/#x"],
    "/0: it must not have a fragment",
  ],
  ["redirect_uris", ["https://u:p@a.example/"], "/0: it must not name a user"],
  ["redirect_uris", ["https://a.example/ü"], "/0: it must be printable ASCII"],
  ["redirect_uris", ["javascript:alert(1)"], "/0: it must be an https URL"],
  ["client_secret_sha256", "secret", ": it must be the SHA-256"],
  ["token_endpoint_auth_method", "private_key_jwt", ": it must go with"],
  ["token_endpoint_auth_method", "none", ": it must go with", {
    client_secret_sha256: SHA256,
  }],
  ["jwks", { keys: [{ kty: "EC", d: "x" }] }, ": it must be a set of public"],
  ["jwks", { keys: [{ kty: "oct", k: "x" }] }, ": it must be a set of public"],
  [
    "jwks",
    { keys: [{ kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }] },
    ": only one of client_secret_sha256, jwks may be given",
    { client_secret_sha256: SHA256 },
  ],
  ["id_token_signed_response_alg", "none", ": it must be"],
  ["id_token_signed_response_alg", "HS256", ": it must be"],
  ["backchannel_logout_uri", "http://10.0.0.1/", ": it must be an https URL"],
  ["refresh", "yes", ": it must be true or false"],
  ["pkce", false, ": it may be false only with"],
  ["require", ["rule=x"], "/0: Cannot"],
];

Deno.test("reports each fault of a client file with its pointer", async (t) => {
  for (const [member, value, says, more] of FAULTS) {
    await t.step(`${member} ${JSON.stringify(value)}`, async () => {
      const entry = { ...ENTRY, ...more, [member]: value };
      await expectSigError(
        () => readClients(JSON.stringify({ clients: [entry] })),
        "invalid_request",
        `Cannot use file of applications: /clients/0/${member}${says}`,
      );
    });
  }
});

Deno.test("reports all faults together, including duplicates and missing members", async () => {
  const file = JSON.stringify({
    clients: [ENTRY, ENTRY, { redirect_uris: ["x"] }, 1],
  });
  const error = await expectSigError(
    () => readClients(file),
    "invalid_request",
    "Cannot use file of applications",
  );
  const errors = error.context.errors as unknown as { pointer: string }[];
  assertEquals(errors.map(({ pointer }) => pointer).toSorted(), [
    "/clients/1/client_id",
    "/clients/2/client_id",
    "/clients/2/redirect_uris/0",
    "/clients/3",
  ]);
  for (const { pointer } of errors) {
    assertStringIncludes(error.message, `${pointer}: `);
  }
});

Deno.test("the error for too many clients is small", async () => {
  const clients = Array(10_001).fill(ENTRY);
  const error = await expectSigError(
    () => readClients(JSON.stringify({ clients })),
    "invalid_request",
    "Cannot use file of applications: /clients",
  );
  assert(error.message.length < 30_000, `${error.message.length}`);
});

Deno.test("rejects invalid JSON and duplicate members", async () => {
  const nested = "[".repeat(1_000_000);
  for (const text of ["", "{", '{"clients":[],"clients":[]}', nested]) {
    await expectSigError(
      () => readClients(text),
      "invalid_json",
      "Cannot use file of applications: ",
    );
  }
});

Deno.test("accepts loopback addresses and app schemes, and allows two methods for secrets by default", () => {
  const clients = readClients(JSON.stringify({
    clients: [
      {
        client_id: "cli",
        redirect_uris: [
          "http://127.0.0.1:8000/cb",
          "http://[::1]/cb",
          "http://localhost/cb",
          "com.example.app:/cb",
        ],
      },
      { ...ENTRY, client_secret_sha256: SHA256 },
    ],
  }));
  assertEquals(clients.get("cli")?.auth_methods, ["none"]);
  assertEquals(clients.get("app")?.auth_methods, [
    "client_secret_basic",
    "client_secret_post",
  ]);
  assertEquals(clients.get("app")?.id_token_signed_response_alg, "RS256");
  assertEquals(clients.get("app")?.refresh, false);
});

Deno.test("an added client has a secret of 256 bits, and the file contains only its digest", async () => {
  const entryOf = (client_id: string) => ({
    client_id,
    client_name: undefined,
    redirect_uris: [`https://${client_id}.example/cb`],
  });
  const first = addClient(undefined, entryOf("one"));
  const second = addClient(first.text, entryOf("two"));
  const rotated = rotateSecret(second.text, "one");
  const secrets = [first, second, rotated].map(({ secret }) => secret);
  assertEquals(new Set(secrets).size, 3);
  for (const secret of secrets) {
    assert(/^[A-Za-z0-9_-]{43}$/.test(secret));
    assert(!second.text.includes(secret) && !rotated.text.includes(secret));
  }
  const [before, after] = [second, rotated].map(({ text }) =>
    readClients(text)
  );
  assertEquals([...after!.keys()], ["one", "two"]);
  assertEquals(after!.get("two"), before!.get("two"));
  assert(
    after!.get("one")!.client_secret_sha256 !==
      before!.get("one")!.client_secret_sha256,
  );
  assertEquals([...readClients(removeClient(second.text, "one")).keys()], [
    "two",
  ]);
  const open = JSON.stringify({ clients: [entryOf("open")] });
  const refused: readonly (readonly [() => unknown, string])[] = [
    [
      () => addClient(second.text, entryOf("two")),
      'Cannot add application: there is already a client_id "two"',
    ],
    [
      () => addClient(undefined, { ...entryOf("x"), redirect_uris: ["x"] }),
      "/clients/0/redirect_uris/0: it must be an https URL",
    ],
    [() => removeClient(second.text, "x"), 'unknown client_id "x"'],
    [() => rotateSecret(second.text, "x"), 'unknown client_id "x"'],
    [() => rotateSecret(open, "open"), '"open" has none'],
  ];
  for (const [edit, says] of refused) {
    await expectSigError(edit, "invalid_request", says);
  }
});
