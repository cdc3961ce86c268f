/**
 * The examples of the document: requests, and their exact answers at noon of 1
 * June 2026 about an issuer with three events (`EXAMPLE_FEED` of the tests). A
 * test sends all of them.
 *
 * @module
 */

import type { Example } from "./operation.ts";

type Examples = { readonly [name: string]: Example };

/** The current time in the examples. */
export const EXAMPLE_NOW = "2026-06-01T12:00:00Z";
/** The issuer in the examples. */
export const EXAMPLE_ISSUER = "did:web:acme.example";
const ISSUER = EXAMPLE_ISSUER;
const ALICE = "did:web:alice.example";
const BOB = "did:web:bob.example";
const IN_FEBRUARY = "2026-02-10T12:00:00Z";

const REST = {
  freshness: {
    observed_at: EXAMPLE_NOW,
    age_seconds: 0,
    max_age_seconds: 60,
    status: "fresh",
  },
  continuity: "first_seen",
  warnings: [],
} as const;

const NOT_ALLOWED = {
  type: "urn:sig:problem:issuer_not_allowed",
  title: "Issuer not allowed",
  status: 403,
  detail: 'Cannot ask issuer "other.example": it is not on the list',
  instance: "example",
  code: "issuer_not_allowed",
  issuer: "other.example",
} as const;

const ALLOW = {
  decision: "allow",
  subject: ALICE,
  requirements: [
    { key: "relationship", value: "employee" },
    { key: "role", value: "deploy" },
  ],
  matched_relationship_id: "alice-1",
  last_sequence: 3,
  issuer: ISSUER,
  reasons: [],
  evaluated_at: EXAMPLE_NOW,
  at: null,
  as_of: null,
  not_after: null,
  source: "https",
  ...REST,
  proof: null,
} as const;

const DENY = {
  ...ALLOW,
  decision: "deny",
  subject: BOB,
  requirements: [{ key: "role", value: "deploy" }],
  matched_relationship_id: null,
  reasons: [{ code: "revoked", relationship_id: "bob-1", sequence: 3 }],
} as const;

/** `POST /v1/check` */
export const CHECK_EXAMPLES: Examples = {
  allow: {
    summary: "Alice is an employee and may deploy",
    request: {
      issuer: ISSUER,
      subject: ALICE,
      require: [{ relationship: "employee" }, { role: "deploy" }],
    },
    answer: ALLOW,
  },
  past: {
    summary: "Bob, whose contract has ended, might deploy in February",
    request: {
      issuer: ISSUER,
      subject: BOB,
      require: ["role=deploy"],
      at: IN_FEBRUARY,
      explain: true,
    },
    answer: {
      ...DENY,
      decision: "allow",
      matched_relationship_id: "bob-1",
      reasons: [],
      at: IN_FEBRUARY,
      explain: {
        judged_at: IN_FEBRUARY,
        tense: "then",
        events: 3,
        relationships: [{
          relationship_id: "bob-1",
          relationship_type: "contractor",
          roles: ["deploy"],
          valid_from: null,
          valid_until: "2026-12-31T00:00:00Z",
          effective_status: "active",
          last_sequence: 2,
          requirements: [{ key: "role", value: "deploy", met: true }],
        }],
      },
    },
  },
};

/** `POST /v1/check/batch` */
export const BATCH_EXAMPLES: Examples = {
  two: {
    summary: "Bob now, and a question without an answer",
    request: {
      checks: [
        {
          sig: "https://acme.example/.well-known/sig.json",
          subject: BOB,
          require: ["role=deploy"],
        },
        { issuer: "other.example", subject: BOB, require: ["role=deploy"] },
      ],
    },
    answer: { results: [DENY, { error: NOT_ALLOWED }] },
  },
};

/** `POST /v1/verify` */
export const VERIFY_EXAMPLES: Examples = {
  issuer: {
    summary: "An issuer on the network",
    request: { issuer: ISSUER },
    answer: {
      valid: true,
      issuer: ISSUER,
      source: "https",
      verified_events: 3,
      last_sequence: 3,
      feed_sha256:
        "73bf95a03c0e8d55b355e268140c3d46bcfe26c21bbd7754e0b2554198fa2472",
      keys: [
        { kid: "orgsign-1", events: 3, first_sequence: 1, last_sequence: 3 },
      ],
      warnings: [],
    },
  },
  faulty: {
    summary: "An inline feed that is truncated",
    request: {
      feed: {
        metadata: {
          spec_version: "sig/0.1",
          issuer: ISSUER,
          jwks_uri: "https://acme.example/.well-known/jwks.json",
          events_uri: "https://acme.example/.well-known/sig/events.jsonl",
          public_only: true,
          algorithms_supported: ["EdDSA"],
        },
        jwks: { keys: [] },
        events: '{"protected":"eyJhbGciOiJFZERTQSIs',
      },
    },
    answer: {
      valid: false,
      errors: [{
        code: "incomplete_line",
        detail: "Cannot verify feed: the last line must end in LF",
        sequence: 1,
        line: 1,
      }],
      issuer: ISSUER,
      source: "inline",
      verified_events: 0,
      warnings: [{
        code: "did_document_missing",
        detail: "there is no did.json: keys are taken from jwks.json alone",
      }],
    },
  },
};

/** `POST /v1/dump-state` */
export const DUMP_STATE_EXAMPLES: Examples = {
  subject: {
    summary: "Everything about one subject",
    request: { issuer: ISSUER, subject: BOB, limit: 100 },
    answer: {
      issuer: ISSUER,
      last_sequence: 3,
      by_relationship_id: {
        "bob-1": {
          issuer: ISSUER,
          relationship_id: "bob-1",
          subject: BOB,
          relationship_type: "contractor",
          roles: ["deploy"],
          valid_from: null,
          valid_until: "2026-12-31T00:00:00Z",
          status: "revoked",
          revoked_reason_code: "contract_ended",
          revoked_effective_at: "2026-03-01T00:00:00Z",
          last_sequence: 3,
        },
      },
      next_cursor: null,
    },
  },
};

const BASIS = {
  issuer: ISSUER,
  matched_relationship_id: null,
  last_sequence: 3,
  evaluated_at: EXAMPLE_NOW,
  not_after: null,
  ...REST,
} as const;

const PERMIT = {
  decision: true,
  context: { reasons: [], ...BASIS, matched_relationship_id: "alice-1" },
} as const;

const ALICE_DEPLOYS = {
  subject: { type: "user", id: ALICE },
  action: { name: "deploy" },
  resource: { type: "issuer", id: ISSUER },
} as const;

/** `POST /access/v1/evaluation` */
export const EVALUATION_EXAMPLES: Examples = {
  permit: {
    summary: "The issuer as the resource",
    request: ALICE_DEPLOYS,
    answer: PERMIT,
  },
  agent: {
    summary: "Software that acts for the organisation",
    request: { ...ALICE_DEPLOYS, subject: { type: "agent", id: ALICE } },
    answer: PERMIT,
  },
  past: {
    summary:
      "Any other resource: the only issuer of the service's list; in February, as `context.sig` asks: `time` has no effect",
    request: {
      subject: { type: "did", id: BOB },
      action: { name: "deploy" },
      resource: { type: "cluster", id: "production" },
      context: { time: "2026-06-01T14:00+02:00", sig: { at: IN_FEBRUARY } },
    },
    answer: {
      decision: true,
      context: {
        ...PERMIT.context,
        matched_relationship_id: "bob-1",
        ignored: ["resource"],
      },
    },
  },
  other: {
    summary: "A subject of another type is denied",
    request: { ...ALICE_DEPLOYS, subject: { type: "group", id: ALICE } },
    answer: {
      decision: false,
      context: {
        reasons: [{
          code: "no_relationship",
          detail:
            'unsupported subject type "group": it must be user, agent or did',
        }],
        ...BASIS,
      },
    },
  },
};

/** `POST /access/v1/evaluations` */
export const EVALUATIONS_EXAMPLES: Examples = {
  three: {
    summary: "A permit, a deny, and an error, which is not a deny",
    request: {
      ...ALICE_DEPLOYS,
      evaluations: [
        {},
        { subject: { type: "user", id: BOB } },
        { resource: { type: "issuer", id: "other.example" } },
      ],
    },
    answer: {
      evaluations: [
        PERMIT,
        { decision: false, context: { reasons: DENY.reasons, ...BASIS } },
        {
          decision: false,
          context: {
            error: {
              status: NOT_ALLOWED.status,
              code: NOT_ALLOWED.code,
              message: NOT_ALLOWED.detail,
            },
          },
        },
      ],
    },
  },
};

/** `GET /.well-known/authzen-configuration` */
export const CONFIGURATION_EXAMPLES: Examples = {
  configuration: {
    summary: "A service at https://sig.acme.example",
    answer: {
      policy_decision_point: "https://sig.acme.example",
      access_evaluation_endpoint:
        "https://sig.acme.example/access/v1/evaluation",
      access_evaluations_endpoint:
        "https://sig.acme.example/access/v1/evaluations",
    },
  },
};

/** `GET /readyz` */
export const READY_EXAMPLES: Examples = {
  ready: {
    summary: "A service whose issuer answers",
    answer: { status: "ready" },
  },
};

/** `GET /healthz` */
export const HEALTH_EXAMPLES: Examples = {
  ok: {
    summary: "A service that has just started",
    answer: {
      status: "ok",
      service: "sig-api",
      version: "0.1.0",
      spec_version: "sig/0.1",
      uptime_seconds: 0,
    },
  },
};
