/** From the operator's words to the question that each login asks. @module */

import {
  createConsumer,
  type FetchPolicy,
  fetchPolicyOf,
  locateIssuer,
} from "@sig/consumer";
import { parseRequirement, SigError } from "@sig/core";
import type { DemoIssuer } from "../demo/demo_issuer.ts";
import type { CheckRelationship } from "../login/relationship.ts";
import type { ShownIssuer } from "./issuer_documents.ts";
import { mediaTypeOf } from "../requests/reply_document.ts";

/** What the operator says of issuers. */
export interface LoginGateOptions extends FetchPolicy {
  /** did:web, host or https URL of `sig.json`. */
  readonly issuers?: readonly string[] | undefined;
  /** `key=value`; needs exactly one issuer. */
  readonly require?: readonly string[] | undefined;
  /** Milliseconds that the issuer's state may be old; 0 unless told. */
  readonly maxAgeMs?: number | undefined;
  /** The demo's issuer, which comes first. */
  readonly demo?: DemoIssuer | undefined;
  /** The clock. */
  readonly now: () => Date;
}

/** Issuers to show, and the one whose word a login needs. */
export interface LoginGate {
  /** For the page's explorer. */
  readonly issuers: readonly ShownIssuer[];
  /** The issuer of the relationship, or null when none is needed. */
  readonly issuer: string | null;
  /** What it must be, or null. */
  readonly require: readonly string[] | null;
  /** Asks about a subject, where something is required. */
  readonly checkRelationship?: CheckRelationship;
}

/** What the demo asks of those who log in. */
const DEMO_REQUIRE = ["relationship=employee"];

/**
 * Reads the configuration; nothing is fetched yet. With `require` and without
 * `maxAgeMs` the issuer is asked at every login, so that a revocation takes
 * effect at the next one.
 *
 * @throws {SigError} `invalid_requirement`, `invalid_identifier` and the like;
 * `invalid_request` for requirements without their one issuer.
 */
export function createLoginGate(options: LoginGateOptions): LoginGate {
  const { demo, now } = options;
  const policy = fetchPolicyOf(options);
  const issuers = [
    ...(demo === undefined ? [] : [openDemo(demo)]),
    ...(options.issuers ?? []).map((text) => openShown(text, policy)),
  ];
  const require = options.require ?? (demo === undefined ? [] : DEMO_REQUIRE);
  if (require.length === 0) return { issuers, issuer: null, require: null };
  for (const each of require) parseRequirement(each);
  const [issuer] = issuers;
  if (issuer === undefined || issuers.length > 1 && demo === undefined) {
    throw new SigError(
      "invalid_request",
      "Cannot require a relationship: exactly one issuer must be named",
      {
        context: {
          flag: "--require",
          hint: "For example: --issuer acme.example --require role=deploy.",
        },
      },
    );
  }
  const consumer = createConsumer({
    ...issuer.policy,
    issuers: [issuer.did],
    maxAge: options.maxAgeMs ?? 0,
    backend: "node",
    now,
  });
  return {
    issuers,
    issuer: issuer.did,
    require,
    checkRelationship: (subject) =>
      consumer.check(issuer.did, { subject, require }),
  };
}

type Opened = ShownIssuer & { readonly policy: FetchPolicy };

function openShown(issuer: string, policy: FetchPolicy): Opened {
  const location = locateIssuer(issuer, policy);
  return { did: location.expectedIssuer, location, policy, isLocal: false };
}

/** The demo's documents are taken from it, as if they had been fetched. */
function openDemo(demo: DemoIssuer): Opened {
  const policy: FetchPolicy = {
    allowPrivate: true,
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      const bytes = demo.document(pathname);
      const headers = { "content-type": mediaTypeOf(pathname) };
      return Promise.resolve(
        bytes === undefined
          ? new Response(null, { status: 404 })
          : new Response(bytes.slice(), { headers }),
      );
    },
  };
  return { ...openShown(demo.did, policy), isLocal: true };
}
