/** The explorer: a feed, verified here, and what it says. @module */

import type { Route } from "../parts/route.ts";
import type { Site } from "../parts/site.ts";

/** Everything about one feed. */
export function ExploreView({ site }: {
  readonly site: Site;
  readonly route: Extract<Route, { view: "explore" }>;
}) {
  return <h1 tabIndex={-1}>Explore {site.config.issuers.length}</h1>;
}
