import { assert, assertEquals } from "@std/assert";
import { HAS_REDIS, startRedis } from "../../tests/kit/redis_server.ts";
import { openTcpSwitch } from "../../tests/kit/tcp_switch.ts";
import { waitUntil } from "../../tests/kit/wait.ts";
import { Fleet, refreshForm, type Replica } from "./testdata/fleet.ts";

// promise: A killed process loses no logout notification and makes no code
//   valid twice.

/**
 * Guarantees of several processes of a provider if one is killed. The processes
 * of a store serve all its steps.
 */
const isWindows = Deno.build.os === "windows";

/**
 * Kills a process between code and token; returns the two that remain, the
 * second of them over `store` (default: the fleet's).
 */
async function killBeforeToken(
  fleet: Fleet,
  store?: string,
): Promise<[Replica, Replica]> {
  const [first, second] = [await fleet.start(), await fleet.start()];
  const { person, browser } = await fleet.employ();
  const code = await browser.signInForCode(first, person);
  await fleet.kill(first);
  const third = await fleet.start(store);
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
): Promise<Replica> {
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
  const started = Promise.withResolvers<Replica>();
  receiver.hear = async () => {
    receiver.hear = () => 200;
    // The delivering process is killed before it receives the response.
    await fleet.kill(first);
    await fleet.kill(second);
    started.resolve(await fleet.start());
    return 200;
  };
  await fleet.revoke(people[1]!.relationship);
  const third = await started.promise;
  for (const { relationship } of people.slice(2)) {
    await fleet.revoke(relationship);
  }
  await receiver.heard(5);
  assertEquals(
    receiver.subjects.toSorted(),
    [0, 1, 1, 2, 3].map((i) => people[i]!.did).toSorted(),
  );
  return third;
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
    const [second, dying] = running as [Replica, Replica];
    await t.step(
      "at any time during a rotation: at most one response is valid",
      async () => {
        const { person } = await fleet.employ();
        const { body } = await dying.redeem(await fleet.codeAt(dying, person));
        const answer = dying.refresh(body.refresh_token).catch(() => {});
        // real time: the kill may happen at any point.
        await new Promise((go) => setTimeout(go, 20 * Math.random()));
        await fleet.kill(dying);
        const got = await answer;
        const retried = await second.refresh(body.refresh_token);
        assert([200, 400].includes(retried.status), retried.text);
        if (got?.status !== 200) return;
        assertEquals(retried.status, 400);
        const { status } = await second.refresh(got.body.refresh_token);
        assertEquals(status, 400);
      },
    );
    let last = second;
    await t.step(
      "during a delivery: another process delivers, and only the interrupted token arrives twice",
      async () => {
        last = await killDuringDelivery(fleet, second, await fleet.start());
      },
    );
    await t.step(
      "an issuer that never responds is not awaited: userinfo returns the last known relationship",
      async () => {
        const { person, relationship } = await fleet.employ();
        const { body } = await last.redeem(await fleet.codeAt(last, person));
        fleet.serving.isSilent = true;
        const { status, body: info } = await last.userinfo(body.access_token);
        assertEquals([status, info.sig.relationship_id], [200, relationship]);
        // The refresh continues after the response: documents of a batch
        // without a response are requested one by one.
        await waitUntil(
          "a request continues",
          () => fleet.serving.unanswered > fleet.serving.aborted,
        );
      },
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
    let running: Replica[] = [];
    await t.step(
      "between code and token: another process redeems the code once",
      async () => {
        const slow = `redis://127.0.0.1:${proxy.port}`;
        running = await killBeforeToken(fleet, slow);
      },
    );
    const [second, dying] = running as [Replica, Replica];
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
