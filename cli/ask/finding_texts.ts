/** All that a doctor can find, with why it matters and how to mend it. @module */

import type { Severity } from "./finding.ts";

/** What is always said of a kind of trouble. */
export interface FindingText {
  /** As {@linkcode Finding.severity}. */
  readonly severity: Severity;
  /** When it is found, for the reference. */
  readonly when: string;
  /** As {@linkcode Finding.why}. */
  readonly why: string;
  /** As {@linkcode Finding.mend}. */
  readonly mend: string;
}

const COSTS = "Every look costs the whole feed, for its readers and for you";
const EXPORT = "sig export prints a configuration that does";

/** The feed and the keys. */
export const FEED_FINDINGS = {
  personal_data: {
    severity: "warning",
    when:
      "Free text of an event looks like a mail address, a phone number or a birth date",
    why: "A feed is public, and what it said can never be taken back",
    mend: "Leave it out of title, department, label, reason and metadata",
  },
  second_active_relationship: {
    severity: "warning",
    when: "A subject has several active relationships of one type",
    why: "After one of them is revoked, the subject is still allowed",
    mend: "Revoke those that are not meant, with sig revoke",
  },
  similar_names: {
    severity: "warning",
    when:
      "Subjects or roles differ in case or in characters that are not visible, or hide such a character",
    why: "People take them for the same, and every check compares exactly",
    mend: "Give people the intended subject or role, and revoke the other",
  },
  expired_not_ended: {
    severity: "info",
    when: "Relationships have expired and were not revoked",
    why: "They end nothing more, but nobody said why they ended",
    mend: "Revoke them, or renew them with a later valid_until",
  },
  feed_large: {
    severity: "warning",
    when: "The feed has three quarters of what servers take, or more",
    why: "Servers take 250000 events and 67108864 bytes unless told otherwise",
    mend: "Ask who relies on it to raise their limits, and append less often",
  },
  key_old: {
    severity: "warning",
    when: "The key that signs has done so for a year",
    why: "The longer a key is in use, the more an unnoticed copy can forge",
    mend: "sig rotate-key --help",
  },
  key_unauthorised: {
    severity: "warning",
    when: "A key of `jwks.json` is not in `assertionMethod` of `did.json`",
    why: "What it signs from now on is refused by every reader",
    mend: "Add it to assertionMethod, or take it out of jwks.json",
  },
  key_unused: {
    severity: "info",
    when: "A key that is not the newest has signed nothing",
    why: "A key that nobody needs is one more that can be stolen",
    mend: "Take it out of jwks.json and did.json",
  },
  other_draft_document: {
    severity: "warning",
    when: "There is a file that another draft of the protocol names",
    why: "Readers of v0.1 never look at it, so it may say something else",
    mend: "Remove it, if nobody relies on it any more",
  },
} as const satisfies { readonly [code: string]: FindingText };

/** The disk of whoever signs; sources that are directories alone. */
export const DISK_FINDINGS = {
  folder_open_to_others: {
    severity: "warning",
    when: "Others on the machine can look into `.sig`",
    why: "Names of people lie there, and whoever writes there stops appends",
    mend: "chmod 700 the folder",
  },
  document_closed_to_others: {
    severity: "info",
    when: "Nobody but the owner can read what is published",
    why: "A web server that runs as another user answers 403 or 404",
    mend: "chmod -R a+rX the folder .well-known, unless the owner serves it",
  },
  key_open_to_others: {
    severity: "error",
    when:
      "Others on the machine can read a private key, or look into its folder",
    why: "Whoever has the key can sign whatever they like in your name",
    mend: "chmod go-rwx it; if somebody may have read it: sig rotate-key",
  },
} as const satisfies { readonly [code: string]: FindingText };

/** How documents are served; sources that are fetched alone. */
export const SERVED_FINDINGS = {
  no_tls: {
    severity: "error",
    when: "The documents are served over http",
    why: "Whoever is on the way can hold back, or put back, a revocation",
    mend: "Serve them over https with a certificate of the host",
  },
  certificate_refused: {
    severity: "error",
    when:
      "The certificate is not trusted (self-signed, of an unknown authority, without those between), not valid now, or for another name",
    why: "Readers don't believe the host, so every check is without an answer",
    mend:
      "Get one for the host's name from an authority that browsers trust, and send those between along",
  },
  certificate_expires: {
    severity: "warning",
    when: "The certificate ends within three weeks",
    why: "From then on every check is without an answer",
    mend: "Renew it now, and find out why that did not happen by itself",
  },
  http_not_redirected: {
    severity: "warning",
    when:
      "Port 80 of the host answers with the document, or leads elsewhere than to https",
    why: "Whoever follows an old link can be given anything on the way",
    mend: "Redirect http to https for the whole host, or close port 80",
  },
  cors_missing: {
    severity: "warning",
    when: "Documents come without `access-control-allow-origin: *`",
    why: "Pages in browsers can't read them",
    mend: `Send access-control-allow-origin: *; ${EXPORT}`,
  },
  cors_preflight_refused: {
    severity: "info",
    when: "`OPTIONS` does not allow `if-none-match`; many static hosts can't",
    why: "Pages in browsers can't ask whether something has changed",
    mend: `Let the server answer OPTIONS; ${EXPORT}`,
  },
  cached_for_long: {
    severity: "warning",
    when: "Caches may keep documents for more than five minutes unasked",
    why: "Readers behind a cache learn of a revocation that much later",
    mend: "Send cache-control: no-cache, and purge what caches hold by now",
  },
  cache_unsaid: {
    severity: "warning",
    when: "Documents come without `cache-control` and `expires`",
    why: "Caches guess for how long a revocation may stay unseen",
    mend: `Send cache-control: no-cache; ${EXPORT}`,
  },
  compressed_always: {
    severity: "error",
    when: "A document is compressed for readers that did not ask for it",
    why: "Readers refuse it, so that every check is without an answer",
    mend: "Switch compression off for the documents",
  },
  compressed_on_request: {
    severity: "warning",
    when: "Documents are compressed for whoever accepts that",
    why: "Browsers accept it, and then neither lengths nor ranges fit",
    mend:
      "Switch compression off for the documents, or send cache-control: no-transform",
  },
  length_unsaid: {
    severity: "error",
    when: "A document comes without `content-length` and without chunks",
    why: "Readers refuse it, since anybody on the way could have cut it off",
    mend: "Let the server and each proxy speak HTTP/1.1 and say the length",
  },
  etag_missing: {
    severity: "warning",
    when: "The feed comes without an `ETag`",
    why: COSTS,
    mend: "Let the server send ETag",
  },
  etag_ignored: {
    severity: "warning",
    when: "`If-None-Match` with the feed's own tag is not answered with 304",
    why: COSTS,
    mend: "Let the server answer If-None-Match with 304",
  },
  range_ignored: {
    severity: "warning",
    when: "`Range` is not answered with 206",
    why: COSTS,
    mend: "Let the server answer Range with 206, without compression",
  },
  range_wrong: {
    severity: "error",
    when: "`Range` is answered with other bytes than those asked for",
    why: "Readers that know the beginning of the feed refuse the answer",
    mend: "Mend the server's ranges, or switch them off",
  },
  media_type_missing: {
    severity: "info",
    when: "Documents come without `content-type`",
    why: "Browsers and proxies guess what they are",
    mend:
      `Send application/x-ndjson for the feed, application/json else; ${EXPORT}`,
  },
  sniffing_allowed: {
    severity: "info",
    when: "Documents come without `x-content-type-options: nosniff`",
    why: "A browser may take text that somebody put into an event for a page",
    mend: `Send x-content-type-options: nosniff; ${EXPORT}`,
  },
  missing_not_404: {
    severity: "warning",
    when: "A document that can't exist is answered with 200",
    why:
      "A document that you take away would be a faulty one, not a missing one",
    mend: "Answer 404 for what is not there",
  },
  private_folder_served: {
    severity: "error",
    when: "`.sig` of the issuer's directory can be fetched",
    why: "Names of people lie there, and what was cut off after a crash",
    mend: "Serve the published documents alone; sig export prints how",
  },
  clock_differs: {
    severity: "warning",
    when:
      "The server's `Date` is more than a minute away from the clock of this machine",
    why:
      "With a wrong clock events lie in the future, and certificates and ends of validity are misjudged",
    mend: "Set both clocks by NTP",
  },
} as const satisfies { readonly [code: string]: FindingText };

/** A published copy against the directory: `--against` alone. */
export const PUBLISHED_FINDINGS = {
  published_other_issuer: {
    severity: "error",
    when: "The published documents are of another issuer",
    why: "Readers of that place are told about somebody else",
    mend: "Publish the documents at the host that they name",
  },
  published_differs: {
    severity: "error",
    when: "Both feeds have the same events in part, and then others",
    why: "One of both was rewritten; readers who remember refuse the other",
    mend: "Append nothing until you know which is right: sig log shows both",
  },
  published_ahead: {
    severity: "error",
    when: "The published feed has more events",
    why: "An append here would fork the history, and readers would refuse it",
    mend: "sig restore --help: bring this directory up to what is published",
  },
  published_behind: {
    severity: "warning",
    when: "The published feed has fewer events",
    why: "Readers don't know of the newest events, revocations among them",
    mend: "Publish the directory again",
  },
} as const satisfies { readonly [code: string]: FindingText };

/** Every code of the doctor's own. */
export const FINDING_TEXTS = Object.freeze({
  ...FEED_FINDINGS,
  ...DISK_FINDINGS,
  ...SERVED_FINDINGS,
  ...PUBLISHED_FINDINGS,
});

/** A code of {@linkcode FINDING_TEXTS}. */
export type FindingCode = keyof typeof FINDING_TEXTS;
