import { openStore, type RecordStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import { tempFolder } from "../../tests/kit/process.ts";
import {
  HAS_REDIS,
  startRedis,
  whileFrozen,
} from "../../tests/kit/redis_server.ts";
import { Browser, TestProvider } from "./testdata/test_provider.ts";

/** Runs two replicas over one store, with separate connections. */
async function withReplicas(
  open: () => Promise<RecordStore>,
  work: (first: TestProvider, second: TestProvider) => Promise<void>,
): Promise<void> {
  const [own, others] = [await open(), await open()];
  try {
    await using first = await TestProvider.start({ store: own });
    await using second = await TestProvider.start({
      store: others,
      like: first,
    });
    await work(first, second);
  } finally {
    await own.close();
    await others.close();
  }
}

/** Continues at one replica each step that was started at the other. */
async function playStory(
  first: TestProvider,
  second: TestProvider,
): Promise<void> {
  const { person, relationship } = await first.employ();
  const browser = new Browser();
  const url = await first.authorizeUrl();
  const { id, attestation } = await browser.sign(first, person, url);
  const answers = await Promise.all(
    [first, second, first, second].map(({ origin }) =>
      browser.answer(origin, id, { attestation })
    ),
  );
  const bodies = await Promise.all(answers.map((answer) => answer.json()));
  const done = bodies.filter(({ redirect_to }) => redirect_to !== undefined);
  assertEquals(done.length, 1);
  const code = new URL(done[0].redirect_to).searchParams.get("code")!;
  const { status, body } = await second.redeem(code);
  assertEquals(status, 200);
  assertEquals((await first.userinfo(body.access_token)).body.sub, person.did);
  // Reuse of the old token at the other replica revokes the family at both.
  const next = await first.refresh(body.refresh_token);
  assertEquals(next.status, 200);
  assertEquals((await second.refresh(body.refresh_token)).status, 400);
  assertEquals((await first.refresh(next.body.refresh_token)).status, 400);
  // Concurrent uses of a code at both replicas succeed only once.
  const racedCode = await browser.codeAt(await second.authorizeUrl());
  const uses = await Promise.all(
    [first, second, first, second].map((each) => each.redeem(racedCode)),
  );
  const won = uses.filter(({ status }) => status === 200);
  assertEquals(won.length, 1);
  const { access_token } = won[0]!.body;
  assertEquals((await second.userinfo(access_token)).status, 401);
  // A revocation that one replica detects ends the session at the other.
  await first.demo.revoke(relationship);
  await second.web.provider!.watch();
  assertEquals(await browser.silentError(first), "login_required");
}

Deno.test("two replicas over Deno KV act as one provider", async () => {
  await using folder = await tempFolder();
  await withReplicas(() => openStore(`kv:${folder.path}/web.db`), playStory);
});

Deno.test({
  name: "two replicas over Redis act as one provider",
  ignore: !HAS_REDIS,
  async fn() {
    await using redis = await startRedis();
    await withReplicas(() => openStore(redis.url), playStory);
  },
});

Deno.test({
  name:
    "while Redis hangs nothing is issued or lost, and the same token is valid afterwards",
  ignore: !HAS_REDIS,
  async fn() {
    await using redis = await startRedis();
    await withReplicas(() => openStore(redis.url), async (first) => {
      const { browser, access_token, refresh_token } = await first.logIn();
      await whileFrozen(redis, async () => {
        const [token, info, page] = await Promise.all([
          first.refresh(refresh_token),
          first.userinfo(access_token),
          browser.send(await first.authorizeUrl()),
        ]);
        await page.body?.cancel();
        for (const { status, body } of [token, info]) {
          assertEquals([status, body.error], [503, "temporarily_unavailable"]);
        }
        assertEquals([page.status, page.headers.get("location")], [503, null]);
      });
      assertEquals((await first.refresh(refresh_token)).status, 200);
    });
  },
});
