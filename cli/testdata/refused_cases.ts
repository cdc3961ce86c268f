/** What is refused. @module */

import { type Case, UPSERT } from "./cases.ts";
import type { Given } from "./workspace.ts";

const ROWS: readonly (readonly [
  name: string,
  args: string,
  stderr: readonly string[],
  given?: Given,
])[] = [
  ["init never overwrites", "init acme.example --dir $D/acme", [
    "error: issuer_exists",
  ]],
  ["init wants a host", "init https://acme.example/ --dir $D/new", [
    "error: invalid_request",
    "Did you mean acme.example?",
  ]],
  [
    "init wants a host, and no DID",
    "init did:web:acme.example%3A8443 --dir $D/new",
    ["error: invalid_request", "Did you mean acme.example:8443?"],
  ],
  ["a spreadsheet is not a list", "plan --dir $D/acme --from people.xlsx", [
    "at flag --input",
    "A spreadsheet is saved as CSV.",
  ]],
  ["a list is not a plan", "apply --dir $D/acme --plan - --yes", [
    "error: invalid_json",
    "a list is given with --from",
  ], { stdin: "subject,type\n" }],
  ["init wants a public host", "init 127.0.0.1:8080 --dir $D/new", [
    "error: address_not_allowed",
  ]],
  ["a kid becomes a file name", "init new.example --dir $D/new --kid ../x", [
    "error: invalid_identifier",
  ]],
  ["no place for keys", "init new.example --dir $D/new", [
    "error: invalid_request",
    "SIG_KEYS_DIR",
  ], { env: { SIG_KEYS_DIR: undefined, XDG_DATA_HOME: undefined } }],
  [
    "upsert needs a directory",
    "upsert --subject did:web:carol.example --type advisor",
    ["at flag --dir", "--dir is required"],
  ],
  ["upsert needs a subject", "upsert --dir $D/acme --type advisor", [
    "at flag --subject",
  ]],
  [
    "upsert needs a type",
    "upsert --dir $D/acme --subject did:web:carol.example",
    ["at flag --type"],
  ],
  [
    "a misspelt flag is not ignored",
    `${UPSERT} --valid-untl 2027-01-01T00:00:00Z`,
    ["at flag --valid-untl", "Did you mean --valid-until?"],
  ],
  [
    "a misspelt type is not guessed",
    "upsert --dir $D/acme --subject did:web:carol.example --type advisr",
    ["at flag --type", "Did you mean advisor?"],
  ],
  ["a single flag is given once", `${UPSERT} --reason a --reason b`, [
    "--reason is given twice",
  ]],
  [
    "a subject is a DID",
    "upsert --dir $D/acme --subject carol --type advisor",
    ["error: invalid_field", "field /subject"],
  ],
  [
    "times are RFC 3339 UTC",
    `${UPSERT} --issued-at 2026-01-01T00:00:00+01:00`,
    ["error: invalid_field", "field /issued_at"],
  ],
  [
    "validity ends after it begins",
    `${UPSERT} --valid-from 2026-01-02T00:00:00Z --valid-until 2026-01-02T00:00:00Z`,
    ["error: invalid_field", "field /valid_until"],
  ],
  ["metadata is JSON", `${UPSERT} --metadata '{"a":1,"a":2}'`, [
    "error: invalid_json",
    "at flag --metadata",
  ]],
  ["metadata is an object", `${UPSERT} --metadata '[1]'`, [
    "error: invalid_json",
    "at flag --metadata",
  ]],
  ["an event_id is used once", `${UPSERT} --event-id e1`, [
    "error: duplicate_event_id",
    "sequence 1",
  ]],
  ["a relationship keeps its subject", `${UPSERT} --relationship-id r1`, [
    "error: invalid_field",
    "field /subject",
  ]],
  [
    "a revoke needs a relationship",
    "revoke --dir $D/acme --relationship-id r9 --reason-code other",
    ["error: unknown_relationship", "next: sig dump-state"],
  ],
  [
    "a relationship ends once",
    "revoke --dir $D/acme --relationship-id r2 --reason-code other",
    ["error: already_revoked", "--amend"],
  ],
  [
    "a revoke is not in the future",
    "revoke --dir $D/acme --relationship-id r1 --reason-code other --effective-at 2027-01-01T00:00:00Z",
    ["error: invalid_field", "field /effective_at"],
  ],
  ["a kid that is not there can't sign", `${UPSERT} --kid orgsign-9`, [
    "error: signing_key_not_found",
    "kid orgsign-9",
  ]],
  ["a kid is given once", "rotate-key --dir $D/acme --kid orgsign-1", [
    "error: kid_exists",
  ]],
  [
    "no command takes a secret as an argument",
    `${UPSERT} --seed-hex ${"01".repeat(32)}`,
    ['there is no flag "--seed-hex"'],
  ],
  ["append-upsert is withdrawn", `append-${UPSERT}`, ["append-upsert"]],
];

/** Refusals of whatever writes: exit code 2, and no file is changed. */
export const REFUSED: readonly Case[] = ROWS.map(
  ([name, args, stderr, given]) => ({ name, args, code: 2, stderr, ...given }),
);
