import { openSource, parseSource, verifyIssuer } from "@sig/consumer";
import { check, type FeedState } from "@sig/core";
import { didKeyToJwk, jwkToDidKey, jwkToSshKey, sshKeyToJwk } from "@sig/jose";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { revoke, upsert } from "../../tests/kit/events.ts";
import { makeKey, withOpenSsh } from "../../tests/kit/open_ssh.ts";
import { run, runWell } from "../../tests/kit/process.ts";
import {
  importTestKeys,
  lineOf,
  makeDocuments,
} from "../../tests/kit/test_issuer.ts";
import {
  FEED,
  inWorkspace,
  serveIssuer,
  type Words,
  type Workspace,
  workspaceTest as test,
} from "../testdata/workspace.ts";

// promise: sshd gets whole lines of allowed keys and nothing else; an error
//   grants no access.

/** The did:key of a test key. The private key was not kept. */
const ALICE = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
const LINE = jwkToSshKey(didKeyToJwk(ALICE));
const KEY = LINE.split(" ")[1]!;

/** Runs `work` with Alice, whose relationship has no end. */
async function withKeys(work: (workspace: Workspace) => Promise<void>) {
  await inWorkspace(async (workspace) => {
    await workspace.ok("init acme.example --dir $D/acme");
    await workspace.ok(
      `upsert --dir $D/acme --role ssh:a --type contractor --subject ${ALICE}`,
    );
    await work(workspace);
  });
}

const ASK = "ssh-keys $D/acme --require role=ssh:a";

/** Input of an attacker, which no output may contain. */
const MARK = "c3RyYW5nZXI";

const REFUSED: readonly (readonly [name: string, key: string])[] = [
  ["half a key", `${MARK}`],
  ["a byte too many", `${KEY}${MARK}A`],
  ["a second line", `${KEY}\n${MARK}`],
  ["a CR", `${KEY}\r${MARK}`],
  ["a key of small order", `${KEY.slice(0, 25)}${"A".repeat(43)}`],
  ["bytes of another type", `AAAAB3NzaC1yc2EAAAAk${"A".repeat(48)}`],
];

/** Options that sshd would parse differently. */
const REFUSED_OPTIONS: readonly (readonly [name: string, text: string])[] = [
  ["over two lines", "restrict\nssh-ed25519 AAAA"],
  ["with a blank outside of quotes", "restrict pty"],
  ["with an open quote", 'command="a'],
  ["whose quote is escaped", 'command="a\\"'],
  ["with a tab in quotes", 'command="a\tb"'],
  ["that end with a comma", "restrict,"],
  ["of no text", ""],
  ["that make the key an authority", 'from="a,b",Cert-Authority'],
];

Deno.test("ssh-keys prints nothing for an invalid key, and does not repeat it", async (t) => {
  await withKeys(async (workspace) => {
    const offer = [...ASK.split(" "), "--key-type", "ssh-ed25519"];
    const refused = (name: string, words: Words, part: string) =>
      t.step(name, async () => {
        const said = await workspace.refused(words, part);
        assertEquals(said.includes(MARK), false, said);
      });
    for (const [name, key] of REFUSED) {
      const words = [...offer, "--key", key];
      await refused(name, words, "error: invalid_identifier: ");
    }
    const unusable = "error: invalid_request: ";
    for (const more of [` ${MARK}`, "\n"]) {
      const words = [...offer, "--key", `${KEY}${more}`];
      await refused(`a key and ${JSON.stringify(more)}`, words, unusable);
    }
    for (const [name, options] of REFUSED_OPTIONS) {
      const words = [...offer, "--key", KEY, "--options", options];
      await refused(`options ${name}`, words, unusable);
    }
  });
});

Deno.test("ssh-keys prints nothing if the issuer is unreachable, unless --max-age allows the remembered answer", async () => {
  await withKeys(async (workspace) => {
    // The issuer's DID must match the server's address.
    await using server = await serveIssuer(workspace, "site");
    const { host } = server;
    await workspace.ok(
      `upsert --dir $D/site --subject ${ALICE} --type other --role ssh:a`,
    );
    const ask = (more = "", role = "ssh:a") =>
      workspace.sig(
        `ssh-keys ${host} --allow-insecure --require role=${role} --key-type ssh-ed25519 --key ${KEY} ${more}`,
      );
    const allowed = { code: 0, stdout: `${LINE}\n`, stderr: "" };
    assertEquals(await ask(), allowed);
    await server[Symbol.asyncDispose]();
    const closed = await ask();
    assertEquals([closed.code, closed.stdout], [2, ""]);
    assertStringIncludes(closed.stderr, "error: fetch_failed: ");
    assertEquals(await ask("--max-age 1h"), allowed);
    const old = await ask("--max-age 1s");
    assertEquals([old.code, old.stdout], [2, ""]);
    // One source that allows is sufficient; a deny needs an answer from all
    // sources.
    assertEquals(await ask("--sig $D/acme"), allowed);
    const { code, stdout } = await ask("--sig $D/acme", "ssh:b");
    assertEquals([code, stdout], [2, ""]);
  });
});

const START_SECONDS = Date.UTC(2025, 0, 1) / 1000;
const SPAN_SECONDS = 9;

/** The time after some half seconds. */
const momentAfter = (half: number) =>
  new Date(1000 * START_SECONDS + 500 * half).toISOString();
const moment = fc.nat(2 * SPAN_SECONDS).map(momentAfter);

/** Histories of two relationships, with backdating and half seconds. */
const history = fc.array(
  fc.record({
    isRevoke: fc.boolean(),
    relationship_id: fc.constantFrom("r1", "r2"),
    roles: fc.constantFrom(["commit"], ["commit"], []),
    issued_at: moment,
    effective_at: moment,
    valid_from: fc.option(moment),
    valid_until: fc.option(moment),
  }).filter(({ valid_from, valid_until }) =>
    valid_from === null || valid_until === null || valid_from < valid_until
  ),
  { minLength: 1, maxLength: 6 },
);

/** An upsert or revoke. */
interface Draft {
  readonly isRevoke: boolean;
  readonly relationship_id: string;
  readonly roles: readonly string[];
  readonly issued_at: string;
  readonly effective_at: string;
  readonly valid_from: string | null;
  readonly valid_until: string | null;
}

/** Allows in most seconds, so that not all of a few histories deny. */
const ALWAYS: Draft = {
  isRevoke: false,
  relationship_id: "r1",
  roles: ["commit"],
  issued_at: momentAfter(0),
  effective_at: momentAfter(0),
  valid_from: null,
  valid_until: null,
};

/** Publishes a history about one subject in `$D/acme`. */
async function publish(
  workspace: Workspace,
  subject: string,
  drafts: readonly Draft[],
): Promise<FeedState> {
  const [key] = await importTestKeys();
  const lines = await Promise.all(drafts.map((draft, at) => {
    const { effective_at, isRevoke, roles, valid_from, valid_until, ...both } =
      draft;
    const event = isRevoke
      ? revoke(at + 1, { ...both, subject, effective_at })
      : upsert(at + 1, { ...both, subject, roles, valid_from, valid_until });
    return lineOf({ ...event }, key);
  }));
  for (const [path, content] of makeDocuments({ keys: [key], lines })) {
    await workspace.write(`acme${path}`, content);
  }
  const source = parseSource(workspace.path("acme"));
  const { state } = await verifyIssuer(openSource(source, {}), {
    now: new Date(),
  });
  return state;
}

/** `YYYYMMDDHHMMSSZ` */
function sshTime(seconds: number): string {
  return new Date(1000 * seconds).toISOString().replace(/\.000Z|[-:T]/g, "") +
    "Z";
}

const PRINT = "allowed-signers $D/acme --require role=commit";

withOpenSsh(
  "property: ssh-keygen and check --at agree for every second",
  () =>
    inWorkspace(async (workspace) => {
      const { file, line } = await makeKey(workspace.dir, "alice");
      const subject = jwkToDidKey(sshKeyToJwk(line));
      const [message, signers] = ["message", "signers"].map((name) =>
        workspace.path(name)
      );
      await Deno.writeTextFile(message!, "signed once\n");
      const words = ["-q", "-Y", "sign", "-f", file, "-n", "git", message!];
      await runWell("ssh-keygen", words);
      const isGood = async (seconds: number) => {
        const { code } = await run("ssh-keygen", [
          ...["-Y", "verify", "-f", signers!, "-I", subject, "-n", "git"],
          ...["-s", `${message}.sig`, `-Overify-time=${sshTime(seconds)}`],
        ], { stdin: { text: "signed once\n" } });
        return code === 0;
      };
      let [allowed, denied, single] = [0, 0, 0];
      await fc.assert(
        fc.asyncProperty(history, async (drafts) => {
          const state = await publish(workspace, subject, drafts);
          const { stderr, stdout } = await workspace.says(PRINT);
          await Deno.writeTextFile(signers!, stdout);
          const seconds = Array.from(
            { length: SPAN_SECONDS + 3 },
            (_, at) => START_SECONDS - 1 + at,
          );
          const asked = seconds.map((each) => {
            const at = new Date(1000 * each).toISOString();
            const require = ["role=commit"] as const;
            const now = new Date(0);
            return check(state, { subject, require, at, now }).decision;
          });
          const expected = asked.map((decision, at) => {
            const alone = decision === "allow" && asked[at - 1] !== "allow" &&
              asked[at + 1] === "deny";
            // OpenSSH can't express an interval of one second, so it is omitted
            // with a warning.
            if (alone) {
              single++;
              assertStringIncludes(stderr, "of a single second");
            }
            return decision === "allow" && !alone;
          });
          const found = await Promise.all(seconds.map(isGood));
          assertEquals(found, expected, stdout);
          allowed += expected.filter((each) => each).length;
          denied += expected.filter((each) => !each).length;
        }),
        { numRuns: 15, examples: [[[ALWAYS]]] },
      );
      // Both allows and denies were compared.
      assert(allowed > 0 && denied > 0, `${allowed} ${denied} ${single}`);
    }),
);

test("allowed-signers prints intervals in order, with only the bounds that exist", async (workspace) => {
  const alice = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
  const key =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop";
  const common = {
    ...{ isRevoke: false, relationship_id: "r1", roles: ["commit"] },
    ...{ valid_from: null, valid_until: null },
    issued_at: "2025-01-01T00:00:00.5Z",
    effective_at: "2025-01-01T00:00:00Z",
  };
  const again = { ...common, relationship_id: "r2" };
  await publish(workspace, alice, [
    common,
    {
      ...{ ...common, isRevoke: true },
      ...{ issued_at: "2025-02-01T00:00:00Z" },
      effective_at: "2025-01-31T12:00:00Z",
    },
    { ...again, issued_at: "2025-03-01T00:00:00Z" },
  ]);
  const given = (namespaces: string, bounds: string) =>
    `${alice} namespaces="${namespaces}"${bounds} ${key}\n`;
  const last = ',valid-after="20250301000000Z"';
  assertEquals(
    await workspace.ok(PRINT),
    given(
      "git",
      ',valid-after="20250101000001Z",valid-before="20250131115959Z"',
    ) + given("git", last),
  );
  assertStringIncludes(
    await workspace.ok(`${PRINT} --namespace git --namespace file`),
    given("git,file", last),
  );
  for (const namespace of ["*", "a,b", 'a"', "a b", "a\nb"]) {
    await workspace.refused(
      [...PRINT.split(" "), "--namespace", namespace],
      "error: invalid_request: Cannot run: --namespace must be a namespace",
    );
  }
  // Times before 1970, which OpenSSH can't represent.
  await publish(workspace, alice, [
    { ...common, issued_at: "1960-01-01T00:00:00Z" },
    { ...again, issued_at: "1960-01-01T00:00:00Z" },
  ]);
  assertEquals(await workspace.ok(PRINT), given("git", ""));
  await publish(workspace, "did:web:dan.example", [common]);
  assertEquals(await workspace.sig(PRINT), {
    code: 0,
    stdout: "",
    stderr:
      "warning: left out 1 subject without an OpenSSH key: not a did:key of Ed25519\n",
  });
  const feed = await workspace.read(FEED);
  await workspace.write(FEED, feed.replace("eyJ", "eyK"));
  await workspace.refused(PRINT, "error: ");
});
