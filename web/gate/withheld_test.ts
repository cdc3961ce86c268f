import { assertEquals, assertMatch } from "@std/assert";
import { TestProvider } from "../openid/testdata/test_provider.ts";
import { Visitor } from "./testdata/visitor.ts";

const WIKI = "wiki.example";
const PAGE = `http://${WIKI}/`;

Deno.test("attack: what a person kept back is not had through a gate", async () => {
  await using provider = await TestProvider.start({
    settings: { gateHosts: [WIKI], gateMaxAgeMs: 0 },
  });
  const { person } = await provider.employ();
  const visitor = new Visitor(provider);
  const { login } = visitor;
  const id = await login.begin(await provider.authorizeUrl());
  const { challenge } = await login.interaction(provider.origin, id);
  const attestation = person.attest(challenge, provider.now().getTime(), {
    scope: "openid",
  });
  const answer = await login.answer(provider.origin, id, { attestation });
  await answer.body?.cancel();
  assertEquals(answer.status, 200);

  const own = () => login.send(`${provider.origin}/forward-auth`);
  const before = await own();
  await before.body?.cancel();
  assertEquals(
    [before.status, before.headers.get("remote-groups")],
    [401, null],
  );
  // It is asked for, and granted by a signature.
  const asked = await visitor.walk(visitor.gate(PAGE));
  assertMatch(asked.url.hash, /^#\/sign-in\//);
  assertEquals((await visitor.ask(WIKI)).status, 401);
  const { url } = await visitor.sign(person, asked);
  assertEquals(url.href, PAGE);
  assertEquals((await visitor.ask(WIKI)).status, 200);
  const after = await own();
  await after.body?.cancel();
  assertEquals(after.status, 200);
});
