import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Given,
  withIssuer,
  type Workspace,
} from "./testdata/workspace.ts";

/** A run as data: what it is given, and what must come of it. */
interface Case extends Given {
  readonly name: string;
  readonly args: string;
  readonly code?: number;
  /** Exactly, unless it is a list of what must be in it. */
  readonly stdout?: string | readonly string[];
  readonly stderr?: string | readonly string[];
}

const FEED = "acme/.well-known/sig/events.jsonl";

async function test(workspace: Workspace, each: Case): Promise<void> {
  const words = [...each.args.matchAll(/'([^']*)'|(\S+)/g)]
    .map(([, quoted, plain]) => quoted ?? plain!);
  const ran = await workspace.sig(words, each);
  expect(each, "stdout", ran.stdout, each.stdout ?? "");
  expect(each, "stderr", ran.stderr, each.stderr ?? "");
  assertEquals(ran.code, each.code ?? 0, each.name);
}

function expect(
  { name }: Case,
  stream: string,
  actual: string,
  expected: string | readonly string[],
): void {
  if (typeof expected === "string") {
    assertEquals(actual, expected, `${name}: ${stream}`);
  } else {
    for (const part of expected) {
      assertStringIncludes(actual, part, `${name}: ${stream}`);
    }
  }
}

const CHECK = "check --sig $D/acme --subject did:web:alice.example";
const UPSERT =
  "upsert --dir $D/acme --subject did:web:carol.example --type advisor";

/** Answers from an issuer of three events; nothing is changed. */
const READING: readonly Case[] = [
  {
    name: "verify says how many events there are",
    args: "verify $D/acme",
    stdout:
      "valid: 3 events of did:web:acme.example, last sequence 3 (local)\n",
  },
  {
    name: "a sig.json file is a source",
    args: "verify $D/acme/.well-known/sig.json",
    stdout:
      "valid: 3 events of did:web:acme.example, last sequence 3 (local)\n",
  },
  {
    name: "verify as JSON is the body of /v1/verify",
    args: "verify $D/acme --format json",
    stdout: [
      '"valid": true',
      '"verified_events": 3',
      '"last_sequence": 3',
      '"feed_sha256": "',
      '"kid": "orgsign-1"',
    ],
  },
  {
    name: "check allows with exit code 0",
    args: `${CHECK} --require relationship=employee --require role=deploy`,
    stdout: [
      '"decision": "allow"',
      '"matched_relationship_id": "r1"',
      '"source": "local"',
    ],
  },
  {
    name: "check denies with exit code 1",
    args: `${CHECK} --require role=admin`,
    code: 1,
    stdout: ['"decision": "deny"', '"code": "role_missing"'],
  },
  {
    name: "check as text names the relationship",
    args: `${CHECK} --require role=deploy --format text`,
    stdout: "allow  did:web:alice.example  role=deploy\n  by relationship r1\n",
  },
  {
    name: "check as text names the reasons of a deny",
    args:
      "check --sig $D/acme --subject did:web:bob.example --require relationship=contractor --format text",
    code: 1,
    stdout:
      "deny  did:web:bob.example  relationship=contractor\n  revoked, relationship r2 (seq=3)\n",
  },
  {
    name: "the alias allow asks the same",
    args:
      "allow --sig $D/acme --subject did:web:bob.example --require relationship_id=r2 --as-of 2 --format text",
    stdout: ["allow  did:web:bob.example"],
  },
  {
    name: "check explains",
    args: `${CHECK} --require role=deploy --explain`,
    stdout: ['"explain": {', '"effective_status": "active"'],
  },
  {
    name: "check explains to people",
    args: `${CHECK} --require role=x,y --explain --format text`,
    code: 1,
    stdout: [
      "r1: active (seq=1)",
      "does not meet role=x,y",
    ],
  },
  {
    name: "an empty question is an error, never an allow",
    args: CHECK,
    code: 2,
    stderr: ['"code":"requirements_empty"'],
  },
  {
    name: "an unknown requirement is an error, never a deny",
    args: `${CHECK} --require team=red`,
    code: 2,
    stderr: ['"code":"invalid_requirement"'],
  },
  {
    name: "a sequence beyond the feed can't be asked",
    args: `${CHECK} --require role=deploy --as-of 99`,
    code: 2,
    stderr: ['"code":"consistency_unavailable"'],
  },
  {
    name: "a malformed time is refused with its flag",
    args: `${CHECK} --require role=deploy --at 2026-02-30T00:00:00Z`,
    code: 2,
    stderr: ['"flag":"--at"', '"code":"invalid_request"'],
  },
  {
    name: "no sequence is before the first",
    args: `${CHECK} --require role=deploy --as-of 0`,
    code: 2,
    stderr: ['"flag":"--as-of"', '"code":"invalid_request"'],
  },
  {
    name: "a sequence beyond all integers is refused before anything is read",
    args: "dump-state $D/nowhere --as-of 9007199254740993",
    code: 2,
    stderr: ['"flag":"--as-of"'],
  },
  {
    name: "a malformed max-age is refused with its flag",
    args: `${CHECK} --require role=deploy --max-age 5`,
    code: 2,
    stderr: ['"flag":"--max-age"', '"code":"invalid_request"'],
  },
  {
    name: "durations have a unit",
    args: `${CHECK} --require role=deploy --max-age 5m`,
    stdout: ['"decision": "allow"'],
  },
  {
    name: "dump-state has exactly three members",
    args: "dump-state $D/acme --status active",
    stdout: [
      '{\n  "issuer": "did:web:acme.example",\n  "last_sequence": 3,\n  "by_relationship_id": {\n    "r1": {',
    ],
  },
  {
    name: "dump-state filters by subject",
    args: "dump-state $D/acme --subject did:web:nobody.example",
    stdout:
      '{\n  "issuer": "did:web:acme.example",\n  "last_sequence": 3,\n  "by_relationship_id": {}\n}\n',
  },
  {
    name: "dump-state of the past",
    args: "dump-state $D/acme --as-of 2 --format text",
    stdout:
      "did:web:acme.example, last sequence 2\nstatus  relationship  subject                type        roles\nactive  r1            did:web:alice.example  employee    deploy, review\nactive  r2            did:web:bob.example    contractor\n",
  },
  {
    name: "dump-state has a closed list of status",
    args: "dump-state $D/acme --status ended",
    code: 2,
    stderr: ['"flag":"--status"'],
  },
  {
    name: "log prints one event a line",
    args: "log $D/acme --from 2",
    stdout: [
      "#2  2026-01-01T00:00:",
      "added  relationship.upsert  r2  did:web:bob.example  contractor\n#3",
      "ended  relationship.revoke  r2  did:web:bob.example  contract_ended",
    ],
  },
  {
    name: "log filters by subject and relationship",
    args:
      "log $D/acme --subject did:web:bob.example --relationship-id r1 --format json",
    stdout: "",
  },
  {
    name: "log refuses a sequence that is none",
    args: "log $D/acme --from 0",
    code: 2,
    stderr: ["invalid_request", "at flag --from"],
  },
  {
    name: "a missing directory is no answer",
    args: "verify $D/nowhere",
    code: 2,
    stderr: ["error: source_not_found: Cannot read"],
  },
  {
    name: "another DID method is refused",
    args: "verify did:key:z6Mk",
    code: 2,
    stderr: ["unsupported_did_method"],
  },
  {
    name: "http needs --allow-insecure",
    args: "verify http://acme.example/.well-known/sig.json",
    code: 2,
    stderr: ["insecure_url"],
  },
  {
    name: "a private address needs --allow-insecure",
    args: "verify 127.0.0.1:8080",
    code: 2,
    stderr: ["address_not_allowed", "--allow-insecure"],
  },
];

/** Refusals of whatever writes: exit code 2, and no file is changed. */
const REFUSED: readonly Case[] = [
  {
    name: "init never overwrites",
    args: "init acme.example --dir $D/acme",
    code: 2,
    stderr: ["error: issuer_exists"],
  },
  {
    name: "init wants a host",
    args: "init https://acme.example/ --dir $D/new",
    code: 2,
    stderr: ["error: invalid_request"],
  },
  {
    name: "init wants a public host",
    args: "init 127.0.0.1:8080 --dir $D/new",
    code: 2,
    stderr: ["error: address_not_allowed"],
  },
  {
    name: "a kid becomes a file name",
    args: "init new.example --dir $D/new --kid ../x",
    code: 2,
    stderr: ["error: invalid_identifier"],
  },
  {
    name: "no place for keys",
    args: "init new.example --dir $D/new",
    env: { SIG_KEYS_DIR: undefined, XDG_DATA_HOME: undefined },
    code: 2,
    stderr: ["error: invalid_request", "SIG_KEYS_DIR"],
  },
  {
    name: "upsert needs a directory",
    args: "upsert --subject did:web:carol.example --type advisor",
    code: 2,
    stderr: ["at flag --dir"],
  },
  {
    name: "upsert needs a subject",
    args: "upsert --dir $D/acme --type advisor",
    code: 2,
    stderr: ["at flag --subject"],
  },
  {
    name: "upsert needs a type",
    args: "upsert --dir $D/acme --subject did:web:carol.example",
    code: 2,
    stderr: ["at flag --type"],
  },
  {
    name: "a misspelt flag is not ignored",
    args: `${UPSERT} --valid-untl 2027-01-01T00:00:00Z`,
    code: 2,
    stderr: ["at flag --valid-untl", "Did you mean --valid-until?"],
  },
  {
    name: "a misspelt type is not guessed",
    args: "upsert --dir $D/acme --subject did:web:carol.example --type advisr",
    code: 2,
    stderr: ["at flag --type", "Did you mean advisor?"],
  },
  {
    name: "a single flag is given once",
    args: `${UPSERT} --reason a --reason b`,
    code: 2,
    stderr: ["--reason is given twice"],
  },
  {
    name: "a subject is a DID",
    args: "upsert --dir $D/acme --subject carol --type advisor",
    code: 2,
    stderr: ["error: invalid_field", "field /subject"],
  },
  {
    name: "times are RFC 3339 UTC",
    args: `${UPSERT} --issued-at 2026-01-01T00:00:00+01:00`,
    code: 2,
    stderr: ["error: invalid_field", "field /issued_at"],
  },
  {
    name: "validity ends after it begins",
    args:
      `${UPSERT} --valid-from 2026-01-02T00:00:00Z --valid-until 2026-01-02T00:00:00Z`,
    code: 2,
    stderr: ["error: invalid_field", "field /valid_until"],
  },
  {
    name: "metadata is JSON",
    args: `${UPSERT} --metadata '{"a":1,"a":2}'`,
    code: 2,
    stderr: ["error: invalid_json", "at flag --metadata"],
  },
  {
    name: "metadata is an object",
    args: `${UPSERT} --metadata '[1]'`,
    code: 2,
    stderr: ["error: invalid_json", "at flag --metadata"],
  },
  {
    name: "an event_id is used once",
    args: `${UPSERT} --event-id e1`,
    code: 2,
    stderr: ["error: duplicate_event_id", "sequence 1"],
  },
  {
    name: "a relationship keeps its subject",
    args: `${UPSERT} --relationship-id r1`,
    code: 2,
    stderr: ["error: invalid_field", "field /subject"],
  },
  {
    name: "a revoke needs a relationship",
    args: "revoke --dir $D/acme --relationship-id r9 --reason-code other",
    code: 2,
    stderr: ["error: unknown_relationship", "next: sig dump-state"],
  },
  {
    name: "a relationship ends once",
    args: "revoke --dir $D/acme --relationship-id r2 --reason-code other",
    code: 2,
    stderr: ["error: already_revoked", "--amend"],
  },
  {
    name: "a revoke is not in the future",
    args:
      "revoke --dir $D/acme --relationship-id r1 --reason-code other --effective-at 2027-01-01T00:00:00Z",
    code: 2,
    stderr: ["error: invalid_field", "field /effective_at"],
  },
  {
    name: "a kid that is not there can't sign",
    args: `${UPSERT} --kid orgsign-9`,
    code: 2,
    stderr: ["error: signing_key_not_found", "kid orgsign-9"],
  },
  {
    name: "a kid is given once",
    args: "rotate-key --dir $D/acme --kid orgsign-1",
    code: 2,
    stderr: ["error: kid_exists"],
  },
  {
    name: "the peer's --issuer must be the directory's",
    args:
      "append-upsert --events-path $D/acme/.well-known/sig/events.jsonl --issuer did:web:other.example --subject did:web:carol.example --relationship-type advisor",
    code: 2,
    stderr: ["error: issuer_mismatch", "flag --issuer"],
  },
  {
    name: "the peer's --events-path is the feed",
    args:
      "append-upsert --events-path $D/acme/events.jsonl --subject did:web:carol.example --relationship-type advisor",
    code: 2,
    stderr: ["at flag --events-path"],
  },
  {
    name: "there is one directory",
    args:
      "append-upsert --dir $D/acme --events-path $D/acme/.well-known/sig/events.jsonl --subject did:web:carol.example --relationship-type advisor",
    code: 2,
    stderr: ["--dir and --events-path mean the same"],
  },
  {
    name: "a seed has 64 digits",
    args: `append-${UPSERT} --seed-hex 00`,
    code: 2,
    stderr: ["warning: --seed-hex", "at flag --seed-hex"],
  },
  {
    name: "a seed must be of a published key",
    args: `append-${UPSERT} --kid orgsign-1 --seed-hex ${"01".repeat(32)}`,
    code: 2,
    stderr: ["error: invalid_key", "kid orgsign-1"],
  },
  {
    name: "no other command takes a secret as an argument",
    args: `${UPSERT} --seed-hex ${"01".repeat(32)}`,
    code: 2,
    stderr: ["there is no flag"],
  },
];

Deno.test("a reader's answers, and nothing is changed by them", async (t) => {
  await withIssuer(async (workspace) => {
    const before = await workspace.snapshot();
    for (const each of READING) {
      await t.step(each.name, () => test(workspace, each));
    }
    assertEquals(await workspace.snapshot(), before);
  });
});

Deno.test("what is refused leaves every file as it was", async (t) => {
  await withIssuer(async (workspace) => {
    const before = await workspace.snapshot();
    for (const each of REFUSED) {
      await t.step(each.name, async () => {
        await test(workspace, each);
        assertEquals(await workspace.snapshot(), before);
      });
    }
  });
});

Deno.test("with json, a refusal is one problem on stderr and stdout is empty", async (t) => {
  await withIssuer(async (workspace) => {
    const faulty = [...REFUSED, ...READING].filter(({ code }) => code === 2);
    for (const each of faulty) {
      await t.step(each.name, async () => {
        const args = `${each.args} --format json`;
        const json = { ...each, args, stderr: [], stdout: "" };
        await test(workspace, json);
        const words = [...args.matchAll(/'([^']*)'|(\S+)/g)]
          .map(([, quoted, plain]) => quoted ?? plain!);
        const { stderr } = await workspace.sig(words, each);
        const problem = JSON.parse(stderr);
        assertEquals(problem.type, `urn:sig:problem:${problem.code}`);
        assert(typeof problem.detail === "string");
      });
    }
  });
});

Deno.test("an upsert is appended, and says its relationship and sequence", async () => {
  await withIssuer(async (workspace) => {
    const args =
      `${UPSERT} --relationship-id r3 --event-id e4 --title CTO --metadata '{"badge":7}'`;
    const stdout = "Appended relationship.upsert r3 (seq=4)\n";
    await test(workspace, { name: "first", args, stdout });
    const stderr =
      "warning: event e4 was there already (seq=4); nothing was written\n";
    await test(workspace, { name: "repeated", args, stdout, stderr });
    const json = await workspace.sig(
      "log $D/acme --from 4 --format json".split(" "),
    );
    const event = JSON.parse(json.stdout);
    assertEquals(event.display, { title: "CTO" });
    assertEquals(event.metadata, { badge: 7 });
    assertEquals(event.valid_until, null);
  });
});

Deno.test("an append as JSON says what it wrote", async () => {
  await withIssuer(async (workspace) => {
    const words =
      "revoke --dir $D/acme --relationship-id r2 --reason-code error_correction --amend --event-id e9 --format json"
        .split(" ");
    const expected = {
      event_type: "relationship.revoke",
      event_id: "e9",
      relationship_id: "r2",
      sequence: 4,
      repeated: false,
    };
    assertEquals(JSON.parse((await workspace.sig(words)).stdout), expected);
    assertEquals(
      JSON.parse((await workspace.sig(words)).stdout),
      { ...expected, repeated: true },
    );
  });
});

Deno.test("values that look like numbers or flags are text", async () => {
  await withIssuer(async (workspace) => {
    await test(workspace, {
      name: "append",
      args:
        `${UPSERT} --relationship-id 007 --event-id 1e3 --reason '-5% of it' --label=--x --role 12 --role 0x1f`,
      stdout: "Appended relationship.upsert 007 (seq=4)\n",
    });
    const { stdout } = await workspace.sig(
      "log $D/acme --from 4 --format json".split(" "),
    );
    const event = JSON.parse(stdout);
    assertEquals(event.event_id, "1e3");
    assertEquals(event.reason, "-5% of it");
    assertEquals(event.display, { label: "--x" });
    assertEquals(event.roles, ["12", "0x1f"]);
  });
});

Deno.test("the peer's command line works as it stands", async () => {
  await withIssuer(async (workspace) => {
    await test(workspace, {
      name: "append-upsert",
      args:
        "append-upsert --events-path $D/acme/.well-known/sig/events.jsonl --issuer did:web:acme.example --kid orgsign-1 --subject did:web:carol.example --relationship-type advisor --roles a,b --relationship-id r3",
      stdout: "Appended relationship.upsert r3 (seq=4)\n",
    });
    await test(workspace, {
      name: "append-revoke",
      args:
        "append-revoke --events-path $D/acme/.well-known/sig/events.jsonl --relationship-id r3 --reason-code other",
      stdout: "Appended relationship.revoke r3 (seq=5)\n",
    });
  });
});

Deno.test("after a rotation events are signed with the new key, and all verify", async () => {
  await withIssuer(async (workspace) => {
    await test(workspace, {
      name: "rotate",
      args: "rotate-key --dir $D/acme --kid orgsign-2",
      stdout: "Added key orgsign-2; new events are signed with it\n",
    });
    await workspace.sig(UPSERT.split(" "));
    const { stdout } = await workspace.sig(
      "verify $D/acme --format json".split(" "),
    );
    const report = JSON.parse(stdout);
    assertEquals(report.verified_events, 4);
    assertEquals(
      report.keys.map(({ kid }: { kid: string }) => kid),
      ["orgsign-1", "orgsign-2"],
    );
  });
});

Deno.test("a faulty feed is a no of verify, and no answer of the others", async () => {
  await withIssuer(async (workspace) => {
    const feed = workspace.path(FEED);
    const lines = (await Deno.readTextFile(feed)).split("\n");
    // The payload of line 3 in line 2: its signature does not fit.
    const [second, third] = [JSON.parse(lines[1]!), JSON.parse(lines[2]!)];
    lines[1] = JSON.stringify({ ...second, payload: third.payload });
    await Deno.writeTextFile(feed, lines.join("\n"));

    const place = "line 2, sequence 3, kid orgsign-1";
    const verified = await workspace.sig(["verify", "$D/acme"]);
    assertEquals(verified.code, 1);
    assertStringIncludes(
      verified.stdout,
      `invalid: signature_invalid at ${place}: `,
    );
    const report = await workspace.sig(
      ["verify", "$D/acme", "--format", "json"],
    );
    assertEquals([report.code, report.stderr], [1, ""]);
    assertEquals(JSON.parse(report.stdout).errors[0].code, "signature_invalid");
    for (
      const args of [
        `${CHECK} --require role=deploy`,
        "dump-state $D/acme",
        "log $D/acme --format json",
      ]
    ) {
      await test(workspace, {
        name: args,
        args,
        code: 2,
        stderr: ['"code":"signature_invalid"', '"line":2'],
      });
    }
    const before = await workspace.snapshot();
    await test(workspace, {
      name: "append",
      args: UPSERT,
      code: 2,
      stderr: ["next: sig verify <source> lists every fault"],
    });
    assertEquals(await workspace.snapshot(), before);
  });
});

Deno.test("unknown events and unmatched revokes are judged as told", async () => {
  await withIssuer(async (workspace) => {
    for (const policy of ["ignore", "reject"]) {
      await test(workspace, {
        name: policy,
        args:
          `verify $D/acme --unknown-events ${policy} --unmatched-revoke ${policy}`,
        stdout: ["valid: 3 events"],
      });
    }
    await test(workspace, {
      name: "neither",
      args: "verify $D/acme --unknown-events skip",
      code: 2,
      stderr: ["at flag --unknown-events"],
    });
  });
});

Deno.test("an issuer's DID has no port that its URLs don't show", async () => {
  await withIssuer(async (workspace) => {
    const hosts: readonly (readonly [string, string, string])[] = [
      ["b.example:443", "did:web:b.example", "b.example"],
      ["B.Example:8443", "did:web:b.example%3A8443", "b.example:8443"],
      ["127.0.0.1:80", "did:web:127.0.0.1", "127.0.0.1"],
      ["localhost:443", "did:web:localhost%3A443", "localhost:443"],
    ];
    for (const [host, issuer, folder] of hosts) {
      const { code, stdout } = await workspace.sig([
        ...["init", host, "--dir", `$D/${host}`, "--allow-insecure"],
        ...["--format", "json"],
      ]);
      assertEquals(code, 0);
      assertEquals(JSON.parse(stdout), {
        issuer,
        dir: `$D/${host}`,
        kid: "orgsign-1",
        key_file: `$D/keys/${folder}/orgsign-1.jwk`,
      });
      const file = workspace.path(`keys/${folder}/orgsign-1.jwk`);
      assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    }
  });
});

Deno.test("a feed put back from before is refused, and an amended revoke is warned of", async () => {
  await withIssuer(async (workspace) => {
    const feed = workspace.path("acme/.well-known/sig/events.jsonl");
    const upsert =
      "upsert --dir $D/acme --subject did:web:z.example --type employee --relationship-id z";
    const revoke =
      "revoke --dir $D/acme --relationship-id z --reason-code other";
    const sig = (words: string) => workspace.sig(words.split(" "));
    const before = await Deno.readTextFile(feed);
    await sig(upsert);
    await Deno.writeTextFile(feed, before);
    const refused = await sig(upsert);
    assertEquals([refused.code, refused.stdout], [2, ""]);
    assertStringIncludes(refused.stderr, "error: feed_rolled_back: ");
    assertEquals(await Deno.readTextFile(feed), before);
    assertEquals((await sig(`${upsert} --accept-rollback`)).code, 0);
    assertEquals((await sig(revoke)).stderr, "");
    const amended = await sig(`${revoke} --amend`);
    assertEquals(amended.code, 0);
    assertStringIncludes(amended.stderr, "warning: revoked_again: ");
  });
});
