/** What is refused. @module */

import { type Case, UPSERT } from "./cases.ts";

/** Refusals of whatever writes: exit code 2, and no file is changed. */
export const REFUSED: readonly Case[] = [
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
    stderr: ["error: invalid_request", "Did you mean acme.example?"],
  },
  {
    name: "init wants a host, and no DID",
    args: "init did:web:acme.example%3A8443 --dir $D/new",
    code: 2,
    stderr: ["error: invalid_request", "Did you mean acme.example:8443?"],
  },
  {
    name: "a spreadsheet is not a list",
    args: "plan --dir $D/acme --from people.xlsx",
    code: 2,
    stderr: ["at flag --input", "A spreadsheet is saved as CSV."],
  },
  {
    name: "a list is not a plan",
    args: "apply --dir $D/acme --plan - --yes",
    stdin: "subject,type\n",
    code: 2,
    stderr: ["error: invalid_json", "a list is given with --from"],
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
    stderr: ["at flag --dir", "--dir is required"],
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
    name: "no command takes a secret as an argument",
    args: `${UPSERT} --seed-hex ${"01".repeat(32)}`,
    code: 2,
    stderr: ['there is no flag "--seed-hex"'],
  },
  {
    name: "append-upsert is withdrawn",
    args: `append-${UPSERT}`,
    code: 2,
    stderr: ["append-upsert"],
  },
];
