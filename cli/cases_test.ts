import { assert, assertEquals } from "@std/assert";
import {
  CHECK,
  type Given,
  issuerTest as test,
  UPSERT,
  type Workspace,
} from "./testdata/workspace.ts";

/** Commands with exit code and the whole or parts of the result. */
const ANSWERED:
  readonly (readonly [string, number, string | readonly string[]])[] = [
    [
      "verify $D/acme",
      0,
      "valid: 3 events of did:web:acme.example, last sequence 3 (local)\n",
    ],
    [
      "verify $D/acme/.well-known/sig.json",
      0,
      "valid: 3 events of did:web:acme.example, last sequence 3 (local)\n",
    ],
    ["verify $D/acme --format json", 0, [
      '"valid": true',
      '"verified_events": 3',
      '"last_sequence": 3',
      '"feed_sha256": "',
      '"kid": "orgsign-1"',
    ]],
    [`${CHECK} --require relationship=employee --require role=deploy`, 0, [
      '"decision": "allow"',
      '"matched_relationship_id": "r1"',
      '"source": "local"',
    ]],
    [`${CHECK} --require role=admin`, 1, [
      '"decision": "deny"',
      '"code": "role_missing"',
    ]],
    [
      `${CHECK} --require role=deploy --format text`,
      0,
      "allow  did:web:alice.example  role=deploy\n  by relationship r1\n",
    ],
    [
      "check --sig $D/acme --subject did:web:bob.example --require relationship=contractor --format text",
      1,
      "deny  did:web:bob.example  relationship=contractor\n  revoked, relationship r2 (seq=3)\n",
    ],
    [
      "check --sig $D/acme --subject did:web:bob.example --require relationship_id=r2 --as-of 2 --format text",
      0,
      ["allow  did:web:bob.example"],
    ],
    [`${CHECK} --require role=deploy --explain`, 0, [
      '"explain": {',
      '"effective_status": "active"',
    ]],
    [`${CHECK} --require relationship_id=x --explain --format text`, 1, [
      "r1: active (seq=1)",
      "does not meet relationship_id=x",
    ]],
    ["dump-state $D/acme --status active", 0, [
      '{\n  "issuer": "did:web:acme.example",\n  "last_sequence": 3,\n  "by_relationship_id": {\n    "r1": {',
    ]],
    [
      "dump-state $D/acme --subject did:web:nobody.example",
      0,
      '{\n  "issuer": "did:web:acme.example",\n  "last_sequence": 3,\n  "by_relationship_id": {}\n}\n',
    ],
    [
      "dump-state $D/acme --as-of 2 --format text",
      0,
      "did:web:acme.example, last sequence 2\nstatus  relationship  subject                type        roles\nactive  r1            did:web:alice.example  employee    deploy, review\nactive  r2            did:web:bob.example    contractor\n",
    ],
    ["log $D/acme --from 2", 0, [
      "#2  2026-01-01T00:00:",
      "gained  relationship.upsert  r2  did:web:bob.example  contractor\n#3",
      "lost    relationship.revoke  r2  did:web:bob.example  contract_ended",
    ]],
    [
      "log $D/acme --subject did:web:bob.example --relationship-id r1 --format json",
      0,
      "",
    ],
  ];

/** Commands that fail, and parts of their errors. */
const REFUSED: readonly (readonly [string, ...string[]])[] = [
  [CHECK, '"code":"requirements_empty"'],
  [`${CHECK} --require team=red`, '"code":"invalid_requirement"'],
  [
    `${CHECK} --require role=deploy --as-of 99`,
    '"code":"consistency_unavailable"',
  ],
  [
    `${CHECK} --require role=deploy --at 2026-02-30T00:00:00Z`,
    '"flag":"--at"',
    '"code":"invalid_request"',
  ],
  ["verify $D/nowhere", "error: source_not_found: Cannot read"],
  ["verify $D/acme --unknown-events skip", "at flag --unknown-events"],
  ["log $D/acme --from 0", "--from must be a sequence, 1 or more"],
  [`${CHECK} --require role=deploy --as-of 0`, '"flag":"--as-of"'],
  ["init acme.example --dir $D/acme", "error: issuer_exists"],
  [
    "init https://acme.example/ --dir $D/new",
    "error: invalid_request",
    "Did you mean acme.example?",
  ],
  [
    "init did:web:acme.example%3A8443 --dir $D/new",
    "error: invalid_request",
    "Did you mean acme.example:8443?",
  ],
  ["plan --dir $D/acme", "at flag --from", "--from is required"],
  [
    "plan --dir $D/acme --from people.xlsx",
    "at flag --input",
    "A spreadsheet is saved as CSV.",
  ],
  ["init 127.0.0.1:8080 --dir $D/new", "error: address_not_allowed"],
  // The kid is part of a file name.
  ["init new.example --dir $D/new --kid ../x", "error: invalid_identifier"],
  [
    "upsert --subject did:web:carol.example --type advisor",
    "at flag --dir",
    "--dir is required",
  ],
  [
    "upsert --dir $D/acme --subject carol --type advisor",
    "error: invalid_field",
    "field /subject",
  ],
  [
    `${UPSERT} --metadata '{"a":1,"a":2}'`,
    "error: invalid_json",
    "at flag --metadata",
  ],
  [`${UPSERT} --metadata '[1]'`, "error: invalid_json", "at flag --metadata"],
  [`${UPSERT} --event-id e1`, "error: duplicate_event_id", "sequence 1"],
  [
    "revoke --dir $D/acme --relationship-id r9 --reason-code other",
    "error: unknown_relationship",
    "next: sig dump-state",
  ],
  [
    "revoke --dir $D/acme --relationship-id r2 --reason-code other",
    "error: already_revoked",
    "--amend",
  ],
  [
    `${UPSERT} --kid orgsign-9`,
    "error: signing_key_not_found",
    "kid orgsign-9",
  ],
  ["rotate-key --dir $D/acme --kid orgsign-1", "error: kid_exists"],
  [
    `${UPSERT} --seed-hex 0101010101010101010101010101010101010101010101010101010101010101`,
    'there is no flag "--seed-hex"',
  ],
];

test("reading commands return results and change no file", async (workspace) => {
  const before = await workspace.snapshot();
  for (const [args, code, expected] of ANSWERED) {
    const result = typeof expected === "string"
      ? { stdout: expected }
      : { out: expected };
    await workspace.says(args, { code, ...result, stderr: "" });
  }
  assertEquals(await workspace.snapshot(), before);
});

/** Asserts that a command is refused in both formats. */
async function assertRefused(
  workspace: Workspace,
  words: string,
  parts: readonly string[],
  given: Given = {},
): Promise<void> {
  await workspace.refused(words, parts, given);
  const json = await workspace.refused(`${words} --format json`, [], given);
  const { code, detail, type } = JSON.parse(json);
  assertEquals(type, `urn:sig:problem:${code}`);
  assert(typeof detail === "string");
}

test("a failed command prints one problem, exits with 2 and changes no file", async (workspace) => {
  for (const [words, ...parts] of REFUSED) {
    await assertRefused(workspace, words, parts);
  }
  await assertRefused(
    workspace,
    "apply --dir $D/acme --plan - --yes",
    ["error: invalid_json", "a list is given with --from"],
    { stdin: "subject,type\n" },
  );
  await assertRefused(
    workspace,
    "init new.example --dir $D/new",
    ["error: invalid_request", "SIG_KEYS_DIR"],
    { env: { SIG_KEYS_DIR: undefined, XDG_DATA_HOME: undefined } },
  );
});
