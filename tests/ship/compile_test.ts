import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { compileExecutable, type CompileOptions } from "../../tools/compile.ts";
import { EXECUTABLES } from "../../tools/programs.ts";
import { HAS_REDIS, startRedis } from "../kit/redis_server.ts";
import { askJson } from "../kit/server_process.ts";
import {
  ALICE,
  mayDeploy,
  startLoopbackIssuer,
} from "./testdata/loopback_issuer.ts";
import {
  findOldRuntime,
  OLD_FLAGS,
  oldRuntimeEnv,
  writeOldRuntime,
} from "./testdata/old_runtime.ts";
import { VERSION } from "../../tools/workspace.ts";
import {
  isCi,
  type ProcessOptions,
  run,
  runWell,
  startServer,
  tempFolder,
} from "../kit/process.ts";
import { programs } from "../kit/programs.ts";
import {
  LARGE_EVENTS,
  MIN_WORKER_SHARE,
  runWithWorkers,
  writeLargeIssuer,
} from "./testdata/worker_share.ts";

const old = await findOldRuntime();

/** Command that runs a program without any network; Linux only. */
const OFFLINE = ["unshare", "--map-root-user", "--net"];
const canUnshare = await run(OFFLINE[0]!, [...OFFLINE.slice(1), "true"])
  .then(({ code }) => code === 0, () => false);

Deno.test({
  name: `executables run without Deno, with the runtime of npm${
    old.missing === undefined ? "" : ` (${old.missing})`
  }`,
  ignore: old.missing !== undefined && !isCi,
  fn: async (t) => {
    if (old.missing !== undefined) throw new Error(old.missing);
    await using made = await tempFolder();
    await using folder = await tempFolder();
    const dist = made.path;
    const elsewhere = folder.path;
    // Only the variables that a step sets, and no module cache.
    const env = { SIG_KEYS_DIR: `${elsewhere}/keys` };
    const alone: ProcessOptions = { cwd: elsewhere, clearEnv: true, env };
    const sig = (...args: string[]) => runWell(`${dist}/sig`, args, alone);
    const options: CompileOptions = {
      folder: dist,
      bundle: await programs(),
      deno: old.deno,
      flags: OLD_FLAGS,
      env: oldRuntimeEnv(await writeOldRuntime(dist, old.program)),
    };

    await t.step("deno compile creates three executables", async () => {
      for (const executable of EXECUTABLES) {
        await compileExecutable(executable, options);
      }
    });

    await t.step("the official flags embed no package", async () => {
      // This Deno accepts the older runtime, but the result can't start.
      const { DENORT_BIN } = options.env!;
      const path = await compileExecutable(EXECUTABLES[1]!, {
        folder: await Deno.makeTempDir({ dir: dist }),
        bundle: options.bundle,
        env: { DENORT_BIN: DENORT_BIN! },
      });
      const runtime = await Deno.stat(DENORT_BIN!);
      const program = (await Deno.readFile(path)).subarray(runtime.size);
      const text = new TextDecoder("latin1").decode(program);
      const packages = [...text.matchAll(/"name": "([@\w\/-]+)",\s+"version"/g)]
        .map(([, name]) => name!);
      // All are bundled.
      assertEquals(packages, []);
    });

    await t.step(
      "--version and --help work with an empty environment",
      async () => {
        const nothing = { cwd: "/", clearEnv: true, env: {} };
        for (const { name } of EXECUTABLES) {
          const path = `${dist}/${name}`;
          const said = await runWell(path, ["--version"], nothing);
          assertEquals(said, `${name} ${VERSION}\n`);
          const help = await runWell(path, ["--help"], nothing);
          assertStringIncludes(help, "Usage:");
        }
      },
    );

    await t.step({
      name: "sig creates, changes and checks an issuer without a network",
      ignore: !canUnshare && !isCi,
      fn: async () => {
        const offline = async (words: string) => {
          const args = [`${dist}/sig`, ...words.split(" ")];
          const all = [...OFFLINE.slice(1), ...args];
          return await run(OFFLINE[0]!, all, alone);
        };
        const upsert = "upsert --dir a.example --type employee --role deploy";
        for (
          const words of [
            "init a.example",
            `${upsert} --subject ${ALICE} --relationship-id r1`,
            "rotate-key --dir a.example --kid orgsign-2",
            `${upsert} --subject did:web:bob.example`,
            "verify ./a.example",
            `check --sig ./a.example --subject ${ALICE} --require role=deploy`,
            "revoke --dir a.example --relationship-id r1 --reason-code other",
          ]
        ) {
          const { code, stderr } = await offline(words);
          assertEquals([code, words, stderr], [0, words, ""]);
        }
        const question = "--require role=deploy --format json";
        const { code, stdout } = await offline(
          `check --sig ./a.example --subject ${ALICE} ${question}`,
        );
        const { decision, reasons } = JSON.parse(stdout);
        assertEquals([code, decision], [1, "deny"]);
        assertEquals(reasons[0].code, "revoked");
        const asked = await offline("verify a.example");
        assertEquals([asked.code, asked.stdout], [2, ""]);
        assertStringIncludes(asked.stderr, "fetch_failed");
      },
    });

    await t.step({
      // With fewer, Deno itself can exit with 1 (docs/rely-on-an-issuer.md).
      name: "64 file descriptors are enough",
      ignore: Deno.build.os !== "linux",
      fn: async () => {
        const words =
          "check --sig ./a.example --require role=deploy --format json --subject";
        const check = [...words.split(" "), ALICE];
        const args = ["--nofile=64", `${dist}/sig`, ...check];
        const { code, stdout } = await run("prlimit", args, alone);
        assertEquals([code, JSON.parse(stdout).decision], [1, "deny"]);
      },
    });

    await t.step({
      name: "workers verify a large feed",
      ignore: Deno.build.os !== "linux",
      fn: async () => {
        await writeLargeIssuer(`${elsewhere}/large`);
        const { code, stdout, stderr, share } = await runWithWorkers(
          `${dist}/sig`,
          ["verify", "./large"],
          alone,
        );
        assertEquals([code, stderr], [0, ""]);
        assertStringIncludes(stdout, `valid: ${LARGE_EVENTS} events`);
        assert(share > MIN_WORKER_SHARE, `workers did ${share} of the work`);
      },
    });

    await t.step({
      name: "sig keeps pins in Redis, whose client is bundled apart",
      ignore: !HAS_REDIS && !isCi,
      fn: async () => {
        await using redis = await startRedis();
        const words = ["pin", "list", "--pins", redis.url, "--format", "json"];
        assertEquals(JSON.parse(await sig(...words)), []);
      },
    });

    await t.step("sig-api answers questions about an issuer", async () => {
      await using issuer = await startLoopbackIssuer();
      const words = ["--addr", "127.0.0.1:0", "--allow-insecure"];
      await using api = await startServer(
        `${dist}/sig-api`,
        [...words, "--issuer", issuer.host],
        { ...alone, env: {} },
      );
      const url = `${api.origin}/v1/check`;
      const { status, body } = await askJson(url, mayDeploy(issuer.did, ALICE));
      assertEquals([status, body.decision], [200, "allow"], body.detail);
      const other = await askJson(
        url,
        mayDeploy(issuer.did, "did:web:b.example"),
      );
      assertEquals([other.status, other.body.decision], [200, "deny"]);
      const page = await fetch(`${api.origin}/docs`);
      assertStringIncludes(await page.text(), "</html>");
      assertEquals((await api.stop()).code, 0);
    });

    await t.step("sig-web --demo serves its page and a login", async () => {
      const words = ["--demo", "--addr", "127.0.0.1:0"];
      await using web = await startServer(`${dist}/sig-web`, words, {
        ...alone,
        env: {},
      });
      const page = await (await fetch(`${web.origin}/`)).text();
      for (const [, path] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
        const asset = await fetch(web.origin + path);
        await asset.body?.cancel();
        assertEquals([asset.status, path], [200, path]);
      }
      await sig("key", "generate", "--out", "me.jwk");
      const subject = (await sig("key", "did", "me.jwk")).trim();
      await askJson(`${web.origin}/demo/enrol`, { subject });
      const auth = `${web.origin}/v1/auth`;
      const challenge = await askJson(`${auth}/challenge/create`, {
        scopes: ["profile"],
      });
      const file = `${elsewhere}/challenge.json`;
      await Deno.writeTextFile(file, JSON.stringify(challenge.body));
      const attestation = await sig(
        ...["attest", "--challenge", file, "--key", "me.jwk"],
      );
      const login = { attestation: attestation.trim() };
      const first = await askJson(`${auth}/attestation/verify`, login);
      assertEquals([first.status, first.body.subject], [200, subject]);
      assertEquals(first.body.verified, true);
      const again = await askJson(`${auth}/attestation/verify`, login);
      assertEquals([again.status, again.body.code], [409, "challenge_used"]);
      assertEquals((await web.stop()).code, 0);
    });

    await t.step(
      "a missing permission is an error without a stack",
      async () => {
        const store = `kv:${elsewhere}/challenges.db`;
        const denied = await run(`${dist}/sig-web`, ["--store", store], alone);
        assertEquals([denied.code, denied.stdout], [2, ""]);
        assertMatch(
          denied.stderr,
          /^sig-web: store_unavailable: Cannot use .+\n {2}hint: .+\n$/,
        );
        const blind = { ...alone, env: { HOME: "/nonexistent" } };
        const words = ["init", "c.example", "--dir", "/proc/nowhere"];
        const unwritable = await run(`${dist}/sig`, words, blind);
        assertEquals([unwritable.code, unwritable.stdout], [2, ""]);
        assertMatch(unwritable.stderr, /^error: [a-z_]+: Cannot .+\n/);
        assert(!unwritable.stderr.includes("    at "), unwritable.stderr);
      },
    );
  },
});
