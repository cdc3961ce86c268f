import { assertEquals } from "@std/assert";
import { SUBJECTS_EACH_CLIENT } from "../login/out_of_place.ts";
import { Person } from "../testdata/independent_client.ts";
import { Browser, TestProvider } from "./testdata/test_provider.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

/** Signs as somebody whose keys are at a host; status, code and detail. */
async function signInAs(
  provider: TestProvider,
  host: string,
  client: string,
): Promise<readonly unknown[]> {
  const browser = new Browser();
  const id = await browser.begin(await provider.authorizeUrl());
  const { challenge } = await browser.interaction(provider.origin, id);
  const did = `did:web:${host}`;
  const attestation = new Person().attest(
    challenge,
    provider.now().getTime(),
    { iss: did, sub: did },
    { kid: `${did}#key-1` },
  );
  // Not over the socket, where all clients have one address.
  const response = await provider.web.fetch(
    new Request(`${provider.origin}/oidc/interaction/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json", cookie: browser.cookie },
      body: JSON.stringify({ attestation }),
    }),
    { remoteAddr: { hostname: client } },
  );
  const { code, detail } = await response.json();
  return [response.status, code, detail];
}

Deno.test("applications: hosts that one client names keep out no subjects of others", async () => {
  const silence = Promise.withResolvers<void>();
  const asked = new Set<string>();
  await using provider = await TestProvider.start({
    web: {
      fetch: async (request) => {
        const { host } = new URL(request.url);
        asked.add(host);
        if (host !== "alice.example") await silence.promise;
        return new Response(null, { status: 404 });
      },
    },
  });
  let refused = 0;
  const hanging = Array.from({ length: 64 }, async (_, i) => {
    const answer = await signInAs(provider, `host-${i}.example`, "192.0.2.1");
    if (answer[1] === "overloaded") refused++;
    return answer;
  });
  await waitUntil(
    "all asked for or refused",
    () => asked.size + refused === hanging.length,
  );
  const other = await signInAs(provider, "alice.example", "192.0.2.2");
  silence.resolve();
  assertEquals(other, [
    502,
    "key_unresolvable",
    'Cannot get the keys of "did:web:alice.example": its DID document can\'t be used',
  ]);
  assertEquals(refused, hanging.length - SUBJECTS_EACH_CLIENT);
  const answers = await Promise.all(hanging);
  assertEquals(answers.find(([, code]) => code === "overloaded"), [
    503,
    "overloaded",
    "Cannot answer: too many requests of this client wait for the same answer of others",
  ]);
});
