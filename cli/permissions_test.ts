import { assertEquals } from "@std/assert";
import { serveLoopback } from "../tests/kit/loopback.ts";
import { createIssuerSite } from "./site/issuer_site.ts";
import { sig } from "./testdata/process.ts";
import type { Done } from "./testdata/run_all.ts";
import { makeKey, startAgent, withOpenSsh } from "../tests/kit/open_ssh.ts";
import {
  assertRan,
  draftsOf,
  inWorkspace,
  workspaceTest as test,
} from "./testdata/workspace.ts";

// promise: Each command runs with the permissions of its documentation, and no
//   others.

const ENV = "--allow-env=SIG_KEYS_DIR,SIG_KEY_FILE,XDG_DATA_HOME,HOME,NO_COLOR";
/** Permissions of the pin store; `$D` is the working directory. */
const REMEMBERING = [
  ...["--allow-net", "--allow-read=$D/data", "--allow-write=$D/data"],
  "--allow-env=XDG_DATA_HOME,HOME",
];
const WRITING = ["--allow-read", "--allow-write", ENV];

/** The permissions in the README, for commands that depend on each other. */
const LEAST: readonly (readonly [string, readonly string[]])[] = [
  ["--version", []],
  ["--help", []],
  ["completions bash", []],
  ["key generate", []],
  ["key generate --out k.jwk", ["--allow-write"]],
  ["key did k.jwk", ["--allow-read"]],
  ["key public k.jwk", ["--allow-read"]],
  ["key ssh k.jwk", ["--allow-read"]],
  ["init $H --dir acme --allow-insecure", WRITING],
  [
    "upsert --dir acme --subject did:web:a.example --type other --relationship-id r0",
    WRITING,
  ],
  ["set --dir acme --subject did:web:a.example --add-role x", WRITING],
  ["revoke --dir acme --relationship-id r0 --reason-code other", WRITING],
  ["undo --dir acme --relationship-id r0 --format json", WRITING],
  ["plan --dir acme --from same.csv", WRITING],
  ["apply --dir acme --from same.csv --yes", WRITING],
  ["import --dir acme drafts.jsonl", WRITING],
  [
    "offboard --dir acme --subject did:web:b.example --reason-code other --yes",
    WRITING,
  ],
  ["restore --dir acme --from ./acme", WRITING],
  ["backup --dir acme --out acme.tar", WRITING],
  ["restore --dir acme --backup acme.tar", WRITING],
  [
    "upsert --dir acme --subject did:web:c.example --type other --against $H --allow-insecure",
    [...WRITING, "--allow-net"],
  ],
  ["rotate-key --dir acme --kid orgsign-2", WRITING],
  ["recovery create --dir acme --out r1.jwk", WRITING],
  [
    "recover --dir acme --recovery-key r1.jwk --next r2.jwk --lost orgsign-1 --yes",
    WRITING,
  ],
  ["verify ./acme", ["--allow-read"]],
  ["dump-state ./acme", ["--allow-read"]],
  ["log ./acme", ["--allow-read"]],
  ["who ./acme", ["--allow-read"]],
  ["ssh-keys ./acme --require role=y", ["--allow-read"]],
  ["allowed-signers ./acme --require role=y", ["--allow-read"]],
  ["expiring ./acme --within 30d", ["--allow-read"]],
  ["diff ./acme --from 1 --to 1", ["--allow-read"]],
  ["audit ./acme --format html", ["--allow-read"]],
  ["test cases.yaml", ["--allow-read"]],
  ["doctor ./acme", ["--allow-read"]],
  ["export nginx --dir acme", ["--allow-read"]],
  ["export static --dir acme --out h", ["--allow-read", "--allow-write"]],
  [
    "check --sig ./acme --subject did:web:a.example --require relationship=other",
    ["--allow-read"],
  ],
  ["attest --challenge c.json --key k.jwk", ["--allow-read"]],
  ["invite --dir acme --type other --out inv", WRITING],
  [
    "accept inv --sig ./acme --key k.jwk --out answer",
    ["--allow-read", "--allow-write"],
  ],
  [
    "accept inv --allow-insecure --out answer2",
    ["--allow-read", "--allow-write", "--allow-net"],
  ],
  ["enrol --dir acme --answer answer --yes", WRITING],
  ["verify $H --allow-insecure --no-pin", ["--allow-net"]],
  ["who $H --allow-insecure --no-pin", ["--allow-net"]],
  ["ssh-keys $H --allow-insecure --require role=y", REMEMBERING],
  ["verify $H --allow-insecure", REMEMBERING],
  ["dump-state $H --allow-insecure", REMEMBERING],
  ["log $H --allow-insecure", REMEMBERING],
  ["who $H --allow-insecure", REMEMBERING],
  ["watch $H --allow-insecure --once", REMEMBERING],
  ["watch ./acme --once --no-pin", ["--allow-read"]],
  [
    "watch ./acme --once --from 1 --exec true",
    ["--allow-read", "--allow-write=$D/data", ENV, "--allow-run=true"],
  ],
  [
    "check --sig $H --allow-insecure --subject did:web:a.example --require role=x",
    REMEMBERING,
  ],
  [
    "check --sig $H --allow-insecure --subject did:web:a.example --require role=x --pins $D/data/other.db",
    REMEMBERING.slice(0, -1),
  ],
  ["checkpoint --dir acme --init", WRITING],
  [
    "evidence make --sig ./acme --subject did:web:a.example --require relationship=other --out e.json",
    ["--allow-read", "--allow-write"],
  ],
  [
    "evidence verify e.json --allow-insecure --format json",
    ["--allow-read", "--allow-net"],
  ],
];

/** Returns the rows, consecutive ones with equal permissions together. */
function withEqualPermissions() {
  const runs: { permissions: readonly string[]; commands: string[] }[] = [];
  for (const [words, permissions] of LEAST) {
    const last = runs.at(-1);
    if (last?.permissions.join() === permissions.join()) {
      last.commands.push(words);
    } else runs.push({ permissions, commands: [words] });
  }
  return runs;
}

Deno.test("each command works with the permissions that the README lists", async (t) => {
  await inWorkspace(async ({ dir: cwd }) => {
    // Both times from one reading of the clock, since the limit is 900 s.
    const now = Date.now();
    const challenge = {
      challenge_id: "c1",
      audience: "https://shop.example",
      nonce: "n1",
      scopes: [],
      subject: null,
      // The command uses the real clock, and the challenge must not be expired.
      issued_at: new Date(now).toISOString(),
      expires_at: new Date(now + 900_000).toISOString(),
    };
    await Deno.writeTextFile(
      `${cwd}/same.csv`,
      "subject,type\ndid:web:a.example,other\n",
    );
    await Deno.writeTextFile(
      `${cwd}/drafts.jsonl`,
      draftsOf(1, { subject: "did:web:b.example" }),
    );
    await Deno.writeTextFile(`${cwd}/c.json`, JSON.stringify(challenge));
    await Deno.writeTextFile(
      `${cwd}/cases.yaml`,
      "source: ./acme\ncases: [{subject: did:web:a.example, require: [relationship=other], expect: allow}]\n",
    );
    await using server = serveLoopback(createIssuerSite(`${cwd}/acme`));
    const { host } = server;
    const real = (text: string) => text.replace("$H", host).replace("$D", cwd);
    for (const { permissions, commands } of withEqualPermissions()) {
      const all = commands.map((words) => real(words).split(" "));
      const { stdout, stderr } = await sig([JSON.stringify(all)], {
        cwd,
        permissions: permissions.map(real),
        entry: "testdata/run_all.ts",
      });
      assertEquals(stderr, "");
      const done: readonly Done[] = JSON.parse(stdout);
      for (const [at, words] of commands.entries()) {
        await t.step(`${words} ${permissions.join(" ")}`, () => {
          const { code, stderr } = done[at]!;
          assertEquals(code, 0, stderr);
          // Signing commands show on stderr what they sign.
          if (
            !/^(?:attest|invite|accept|enrol|restore \S+ \S+ --b) /.test(words)
          ) {
            // Sources on loopback use http.
            const origin = "warning: origin not proven: ";
            const rest = stderr.split("\n")
              .filter((line) => !line.startsWith(origin));
            assertEquals(rest.join("\n"), "");
          }
        });
      }
    }
  });
});

withOpenSsh(
  "with a key in ssh-agent a command needs its socket, and no more",
  async () => {
    await inWorkspace(async ({ dir: cwd }) => {
      await using agent = await startAgent(cwd);
      await agent.add(await makeKey(cwd, "issuer"));
      const socket = agent.socket;
      const permissions = [
        ...["--allow-read", "--allow-write", `${ENV},SSH_AUTH_SOCK`],
        `--allow-net=unix:${socket}`,
      ];
      const env = { SSH_AUTH_SOCK: socket };
      const options = { cwd, permissions, env };
      for (
        const words of [
          "init acme.example --key agent:",
          "upsert --dir acme.example --subject did:web:a.example --type other",
        ]
      ) {
        assertRan(await sig(words.split(" "), options), { stderr: "" });
      }
      const without = { ...options, permissions: WRITING };
      const words = "upsert --dir acme.example --subject did:web:a.example";
      assertRan(
        await sig(
          [...words.split(" "), "--type", "other"],
          without,
        ),
        { code: 2, err: "SSH_AUTH_SOCK" },
      );
    });
  },
);

test("an unreadable environment is not treated as an empty one", async ({ dir: cwd }) => {
  const permissions = ["--allow-read", "--allow-write"];
  assertRan(
    await sig(["init", "a.example"], {
      cwd,
      permissions,
    }),
    { code: 2, err: "Set SIG_KEYS_DIR" },
  );
  assertEquals([...Deno.readDirSync(cwd)], []);
});
