/**
 * The operator's desk on a feed of 10,000 events: `sig plan` and `sig apply` of
 * 10,000 changes, and `sig import` of 100,000 drafts, each as a process, beside
 * the bare `node:crypto` signatures and verifications that they can't avoid.
 * Goals: 2 s to plan, 3 s to apply.
 * Run: `deno run -A bench/desk.ts`
 *
 * @module
 */
import { generateKeyPairSync, sign, verify } from "node:crypto";
import { median } from "./pairs.ts";

const PEOPLE = 10_000;
const DRAFTS = 100_000;
const ROUNDS = 3;
/** Bytes of a signing input, about those of the events below. */
const INPUT = new Uint8Array(700).fill(120);
const ROOT = new URL("..", import.meta.url).pathname;

const dir = await Deno.makeTempDir({ prefix: "sig-bench-" });
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const signature = sign(null, INPUT, privateKey);

/** Milliseconds of so many bare signatures and verifications. */
function bare(signatures: number, verifications: number): number {
  const start = performance.now();
  for (let i = 0; i < signatures; i++) sign(null, INPUT, privateKey);
  for (let i = 0; i < verifications; i++) {
    verify(null, INPUT, publicKey, signature);
  }
  return performance.now() - start;
}

/** Milliseconds of a whole process. */
async function sig(args: string, expected = 0): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "-A", "--no-check", "--config"],
      ...[`${ROOT}deno.json`, `${ROOT}cli/main.ts`, ...args.split(" ")],
    ],
    cwd: dir,
    env: { SIG_KEYS_DIR: `${dir}/keys` },
    stdout: "null",
  }).output();
  const took = performance.now() - start;
  if (code === expected) return took;
  throw new Error(`sig ${args}: ${new TextDecoder().decode(stderr)}`);
}

async function writeList(name: string, roles: string): Promise<void> {
  const rows = Array.from(
    { length: PEOPLE },
    (_, n) => `did:web:p${n}.example,contractor,${roles},2126-06-30,Sales\n`,
  );
  const header = "subject,type,roles,valid_until,department\n";
  await Deno.writeTextFile(`${dir}/${name}`, header + rows.join(""));
}

async function writeDrafts(): Promise<void> {
  const drafts = Array.from({ length: DRAFTS }, (_, n) =>
    JSON.stringify({
      event_type: "relationship.upsert",
      subject: `did:web:q${n}.example`,
      relationship_type: "employee",
      roles: ["deploy"],
    }));
  await Deno.writeTextFile(`${dir}/drafts.jsonl`, `${drafts.join("\n")}\n`);
}

function report(
  what: string,
  times: readonly number[],
  bares: readonly number[],
): void {
  const ratios = times.map((time, i) => time / bares[i]!);
  console.log(
    `${what}: ${(median(times) / 1000).toFixed(2)} s, ` +
      `${median(ratios).toFixed(2)} × the bare signatures`,
  );
}

await writeList("before.csv", "support");
await writeList("after.csv", "support;refund");
await writeDrafts();
const plans: number[] = [];
const applies: number[] = [];
const imports: number[] = [];
const bares: { plan: number; apply: number; import: number }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const issuer = `d${round}`;
  await sig(`init acme.example --dir ${issuer} --kid k${round}`);
  await sig(`apply --dir ${issuer} --from before.csv --yes`);
  bares.push({
    plan: bare(0, PEOPLE),
    apply: bare(PEOPLE, PEOPLE),
    import: bare(DRAFTS, 0),
  });
  plans.push(await sig(`plan --dir ${issuer} --from after.csv`, 1));
  applies.push(await sig(`apply --dir ${issuer} --from after.csv --yes`));
  imports.push(await sig(`import --dir ${issuer} drafts.jsonl`));
  await Deno.remove(`${dir}/${issuer}`, { recursive: true });
}
await Deno.remove(dir, { recursive: true });
report(`plan ${PEOPLE} changes`, plans, bares.map(({ plan }) => plan));
report(`apply ${PEOPLE} changes`, applies, bares.map(({ apply }) => apply));
report(`import ${DRAFTS} drafts`, imports, bares.map((each) => each.import));
