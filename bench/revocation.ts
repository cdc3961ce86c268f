/**
 * The time from the append of a revocation to a served feed until an
 * application receives its logout token, with one `sig web --recheck 1s` as a
 * process. Run: `deno run -A bench/revocation.ts`
 *
 * @module
 */
import { percentile } from "./http_client.ts";
import { Fleet } from "../web/openid/testdata/fleet.ts";

const ROUNDS = 60;

await using fleet = await Fleet.open(() => "memory", [
  ...["--recheck", "1s", "--max-age", "1s"],
]);
const server = await fleet.start();
const took: number[] = [];
const people = [];
for (let i = 0; i < ROUNDS; i++) people.push(await fleet.employ());
// Until then the server may still use its earlier read.
await new Promise((go) => setTimeout(go, 1_200));
for (const { person, relationship } of people) {
  const code = await fleet.codeAt(server, person);
  await server.redeem(code);
  // A random time within the poll interval.
  await new Promise((go) => setTimeout(go, Math.random() * 1_000));
  const began = performance.now();
  const heard = Promise.withResolvers<number>();
  fleet.receiver.hear = () => {
    heard.resolve(performance.now() - began);
    return 200;
  };
  await fleet.revoke(relationship);
  took.push(await heard.promise);
}
took.sort((a, b) => a - b);
const at = (of100: number) => percentile(took, of100).toFixed(0);
console.log(
  `${ROUNDS} revocations: median ${at(50)} ms, p99 ${at(99)} ms, maximum ${
    at(100)
  } ms; goal: --max-age + 1 s = 2000 ms`,
);
