/** From the operator's words to the issuers that the page can show. @module */

import { type FetchPolicy, fetchPolicyOf, locateIssuer } from "@sig/consumer";
import type { ShownIssuer } from "./issuer_documents.ts";
import { mediaTypeOf } from "../requests/reply_document.ts";

/** An issuer in this process. */
interface DemoIssuer {
  readonly did: string;
  document(path: string): Uint8Array | undefined;
}

/** What the operator says of issuers. */
export interface ShownIssuersOptions extends FetchPolicy {
  /** did:web, host or https URL of `sig.json`. */
  readonly issuers?: readonly string[] | undefined;
  /** The demo's issuer, which comes first. */
  readonly demo?: DemoIssuer | undefined;
}

/** An issuer, and how it is fetched from. */
export interface OpenedIssuer extends ShownIssuer {
  /** For asking it about people too. */
  readonly policy: FetchPolicy;
}

/**
 * Locates them; nothing is fetched yet.
 *
 * @throws {SigError} `invalid_identifier` and the like, as `locateIssuer`.
 */
export function openShownIssuers(
  options: ShownIssuersOptions,
): readonly OpenedIssuer[] {
  const { demo, issuers = [] } = options;
  const policy = fetchPolicyOf(options);
  return [
    ...(demo === undefined ? [] : [
      { ...open(demo.did, demoPolicy(demo)), isLocal: true },
    ]),
    ...issuers.map((text) => open(text, policy)),
  ];
}

function open(issuer: string, policy: FetchPolicy): OpenedIssuer {
  const location = locateIssuer(issuer, policy);
  return { did: location.expectedIssuer, location, policy, isLocal: false };
}

/** The demo's documents are taken from it, as if they had been fetched. */
function demoPolicy(demo: DemoIssuer): FetchPolicy {
  return {
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
}
