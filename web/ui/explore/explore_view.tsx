/** The explorer of the issuers that the server knows. @module */

import { useMemo } from "preact/hooks";
import { fetchDocuments } from "../feed/documents.ts";
import type { Route } from "../parts/route.ts";
import type { Site } from "../site/site.ts";
import { Explorer, type KnownIssuer } from "./explorer.tsx";

const BROUGHT_BY = "This server passed the documents on";

/** Whatever the server passes on, verified here. */
export function ExploreView({ site: { config }, route }: {
  readonly site: Site;
  readonly route: Extract<Route, { view: "explore" }>;
}) {
  const issuers = useMemo<readonly KnownIssuer[]>(
    () =>
      config.issuers.map(({ did, base }) => ({
        did,
        read: () => fetchDocuments(base),
      })),
    [config],
  );
  return <Explorer issuers={issuers} broughtBy={BROUGHT_BY} route={route} />;
}
