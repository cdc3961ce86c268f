/** Questions and their answers. @module */

import { type Case, CHECK } from "./cases.ts";

/** Answers from an issuer of three events; nothing is changed. */
export const READING: readonly Case[] = [
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
    name: "log prints one event a line",
    args: "log $D/acme --from 2",
    stdout: [
      "#2  2026-01-01T00:00:",
      "gained  relationship.upsert  r2  did:web:bob.example  contractor\n#3",
      "lost    relationship.revoke  r2  did:web:bob.example  contract_ended",
    ],
  },
  {
    name: "log filters by subject and relationship",
    args:
      "log $D/acme --subject did:web:bob.example --relationship-id r1 --format json",
    stdout: "",
  },
  {
    name: "a missing directory ends with exit code 2",
    args: "verify $D/nowhere",
    code: 2,
    stderr: ["error: source_not_found: Cannot read"],
  },
];
