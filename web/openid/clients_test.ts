import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { addClient, removeClient, rotateSecret } from "./edit_clients.ts";
import { readClients } from "./clients.ts";

const ENTRY = { client_id: "app", redirect_uris: ["https://app.example/cb"] };
const SHA256 = "A".repeat(43);

/**
 * Cases with one fault each: the pointer, the member, and part of the message.
 */
const FAULTS: readonly (readonly [string, object, string])[] = [
  ["/clients/0/client_idd", { client_idd: 1 }, "there is no member"],
  ["/clients/0/client_id", { client_id: "a b" }, "it must be letters"],
  ["/clients/0/client_id", { client_id: "" }, "it must be letters"],
  ["/clients/0/redirect_uris", { redirect_uris: [] }, "1 to 32 items"],
  ["/clients/0/redirect_uris/0", {
    redirect_uris: ["http://app.example/cb"],
  }, "it must be an https URL"],
  ["/clients/0/redirect_uris/0", { redirect_uris: ["/cb"] }, "https URL"],
  ["/clients/0/redirect_uris/0", {
    redirect_uris: ["https://app.example/cb#x"],
  }, "it must not have a fragment"],
  ["/clients/0/redirect_uris/0", {
    redirect_uris: ["https://u:p@app.example/"],
  }, "it must not name a user"],
  ["/clients/0/redirect_uris/0", {
    redirect_uris: ["https://app.example/ü"],
  }, "printable ASCII"],
  ["/clients/0/redirect_uris/0", {
    redirect_uris: ["javascript:alert(1)"],
  }, "https URL"],
  ["/clients/0/client_secret_sha256", {
    client_secret_sha256: "secret",
  }, "it must be the SHA-256"],
  ["/clients/0/token_endpoint_auth_method", {
    token_endpoint_auth_method: "private_key_jwt",
  }, "it must go with"],
  ["/clients/0/token_endpoint_auth_method", {
    token_endpoint_auth_method: "none",
    client_secret_sha256: SHA256,
  }, "it must go with"],
  ["/clients/0/jwks", {
    jwks: { keys: [{ kty: "EC", d: "x" }] },
  }, "a set of public keys"],
  ["/clients/0/jwks", { jwks: { keys: [{ kty: "oct", k: "x" }] } }, "public"],
  ["/clients/0/id_token_signed_response_alg", {
    id_token_signed_response_alg: "none",
  }, "RS256"],
  ["/clients/0/id_token_signed_response_alg", {
    id_token_signed_response_alg: "HS256",
  }, "RS256"],
  ["/clients/0/backchannel_logout_uri", {
    backchannel_logout_uri: "http://10.0.0.1/",
  }, "https URL"],
  ["/clients/0/refresh", { refresh: "yes" }, "it must be true or false"],
  ["/clients/0/pkce", { pkce: false }, "it may be false only with"],
  ["/clients/0/require/0", { require: ["rule=x"] }, "Cannot"],
];

Deno.test("reports each fault of a client file with its pointer", async (t) => {
  for (const [pointer, member, says] of FAULTS) {
    await t.step(`${pointer} ${JSON.stringify(member)}`, async () => {
      const file = JSON.stringify({ clients: [{ ...ENTRY, ...member }] });
      const error = await expectSigError(
        () => Promise.resolve().then(() => readClients(file)),
        "invalid_request",
        "Cannot use file of applications: ",
      );
      assertStringIncludes(error.message, `${pointer}: `);
      assertStringIncludes(error.message, says);
    });
  }
});

Deno.test("reports all faults together, including duplicates and missing members", async () => {
  const file = JSON.stringify({
    clients: [ENTRY, ENTRY, { redirect_uris: ["x"] }, 1],
  });
  const error = await expectSigError(
    () => Promise.resolve().then(() => readClients(file)),
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

Deno.test("rejects invalid JSON and duplicate members", async () => {
  for (const text of ["", "{", '{"clients":[],"clients":[]}']) {
    await expectSigError(
      () => Promise.resolve().then(() => readClients(text)),
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
    await expectSigError(async () => await edit(), "invalid_request", says);
  }
});
