import { assertEquals } from "@std/assert";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";
import { openTcpSwitch } from "../../tests/kit/tcp_switch.ts";
import { Fleet, refreshForm, type Replica } from "./testdata/fleet.ts";

// promise: A killed process loses no logout notification and makes no code
//   valid twice.

/**
 * Guarantees of several processes of a provider if one is killed. The processes
 * of a store serve all its steps.
 */
const isWindows = Deno.build.os === "windows";

/** Kills a process between code and token; returns the two that remain. */
async function killBeforeToken(fleet: Fleet): Promise<[Replica, Replica]> {
  const [first, second] = [await fleet.start(), await fleet.start()];
  const { person, browser } = await fleet.employ();
  const code = await browser.signInForCode(first, person);
  await fleet.kill(first);
  const third = await fleet.start();
  const uses = await Promise.all(
    [second, third, second, third].map((each) => each.redeem(code)),
  );
  const won = uses.filter(({ status }) => status === 200);
  assertEquals(won.length, 1);
  const { access_token } = won[0]!.body;
  assertEquals((await third.userinfo(access_token)).status, 401);
  // The person is still logged in at every process.
  const url = await third.authorizeUrl({ prompt: "none" });
  const again = await browser.codeAt(url);
  assertEquals((await second.redeem(again)).status, 200);
  return [second, third];
}

/** Kills the process that delivers; `first` and `second` are all there are. */
async function killDuringDelivery(
  fleet: Fleet,
  first: Replica,
  second: Replica,
): Promise<void> {
  const people: { did: string; relationship: string }[] = [];
  for (let i = 0; i < 4; i++) {
    const { person, relationship } = await fleet.employ();
    await first.redeem(await fleet.codeAt(i % 2 ? first : second, person));
    people.push({ did: person.did, relationship });
  }
  const { receiver } = fleet;
  await fleet.revoke(people[0]!.relationship);
  await receiver.heard(1);
  // Both processes check at least once more.
  await fleet.looks(4);
  assertEquals(receiver.subjects, [people[0]!.did]);
  const started = Promise.withResolvers<void>();
  receiver.hear = async () => {
    receiver.hear = () => 200;
    // The delivering process is killed before it receives the response.
    await fleet.kill(first);
    await fleet.kill(second);
    await fleet.start();
    started.resolve();
    return 200;
  };
  await fleet.revoke(people[1]!.relationship);
  await started.promise;
  for (const { relationship } of people.slice(2)) {
    await fleet.revoke(relationship);
  }
  await receiver.heard(5);
  assertEquals(
    receiver.subjects.toSorted(),
    [0, 1, 1, 2, 3].map((i) => people[i]!.did).toSorted(),
  );
}

Deno.test({
  name: "kill -9 over Deno KV",
  ignore: isWindows,
  async fn(t) {
    await using fleet = await Fleet.open(
      (dir) => `kv:${dir}/web.db`,
      ["--recheck", "1s"],
    );
    let running: Replica[] = [];
    await t.step(
      "between code and token: another process redeems the code once",
      async () => {
        running = await killBeforeToken(fleet);
      },
    );
    const [first, second] = running as [Replica, Replica];
    await t.step(
      "during a delivery: another process delivers, and only the interrupted token arrives twice",
      () => killDuringDelivery(fleet, first, second),
    );
  },
});

Deno.test({
  name: "kill -9 over Redis",
  ignore: isWindows || !HAS_REDIS,
  async fn(t) {
    await using redis = await startRedis();
    await using proxy = openTcpSwitch(redis.port);
    await using fleet = await Fleet.open(() => redis.url);
    const second = await fleet.start();
    const dying = await fleet.start(`redis://127.0.0.1:${proxy.port}`);
    await t.step(
      "between rotation and response: the old refresh token becomes invalid, and the person needs no new login",
      async () => {
        const { person, browser } = await fleet.employ();
        const { body } = await dying.redeem(
          await browser.signInForCode(dying, person),
        );
        const killed = Promise.withResolvers<void>();
        proxy.cutAfter('"refresh":{', () => {
          void fleet.kill(dying).then(killed.resolve);
        });
        const lost = await fetch(`${dying.origin}/oidc/token`, {
          method: "POST",
          body: refreshForm(body.refresh_token),
        }).then(() => "answered", () => "lost");
        await killed.promise;
        assertEquals(lost, "lost");
        // The token was replaced, so its reuse revokes the family.
        const again = await second.refresh(body.refresh_token);
        assertEquals([again.status, again.body.error], [400, "invalid_grant"]);
        assertEquals((await second.userinfo(body.access_token)).status, 401);
        const url = await second.authorizeUrl({ prompt: "none" });
        const code = await browser.codeAt(url);
        assertEquals((await second.redeem(code)).status, 200);
      },
    );
  },
});
