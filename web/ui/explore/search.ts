/** What a text in the search box leads to. @module */

import { exploreLink } from "../route.ts";
import { hostOf } from "../text.ts";
import { clockQuery } from "./clock.tsx";
import type { Ledger, Person } from "./ledger.ts";

const MAX_FOUND = 5;

/** Returns up to five people whose data contain a text. */
export function nearest(
  people: readonly Person[],
  text: string,
): readonly Person[] {
  const wanted = text.trim().toLowerCase();
  return people.filter(({ searched }) => searched.includes(wanted))
    .slice(0, MAX_FOUND);
}

/**
 * Returns the link to what a text names: an address of this page, one of the
 * server's issuers, an event, a DID, or the only person who matches; undefined
 * if it is a filter.
 */
export function interpret(
  text: string,
  issuers: readonly { readonly did: string }[],
  ledger: Ledger | undefined,
): string | undefined {
  const wanted = text.trim();
  const hash = URL.parse(wanted)?.hash ?? "";
  if (hash.startsWith("#/")) return hash;
  const issuer = issuers.find(({ did }) =>
    did === wanted || hostOf(did) === wanted.replace(/^https:\/\//, "")
  );
  if (issuer !== undefined) return exploreLink({ source: hostOf(issuer.did) });
  if (ledger === undefined) return undefined;
  const { feed: { source }, clock, people } = ledger;
  const at = (object: "event" | "person", id: string) =>
    exploreLink({ source, object, id, query: clockQuery(clock) });
  const event = /^#?(\d+)$/.exec(wanted)?.[1];
  if (event !== undefined) return at("event", event);
  if (wanted.startsWith("did:")) return at("person", wanted);
  const [only, other] = nearest(people, wanted);
  return only !== undefined && other === undefined
    ? at("person", only.root)
    : undefined;
}
