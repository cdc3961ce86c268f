/**
 * The page's second script, which is its worker's too: what `app.js` has is
 * taken from there. (SECURITY §5, W8)
 *
 * @module
 */
/// <reference lib="dom" />

import "./main.tsx";
import { DemoView } from "./demo/demo_view.tsx";
import { DevelopersView } from "./developers/developers_view.tsx";
import { ExploreView } from "./explore/explore_view.tsx";
import { serveVerification } from "./feed/check_feed.ts";
import { InvitationView } from "./invitation/invitation_view.tsx";
import { KeysView } from "./keys/keys_view.tsx";
import type { ViewProps } from "./site/more.ts";

export { createReadFeed } from "./feed/read_feed.ts";

/** The view that the address names, if it is not a login. */
export function OtherView({ site, route, exchanges, moved }: ViewProps) {
  switch (route.view) {
    case "sign-in":
      return <DemoView site={site} />;
    case "explore":
      return <ExploreView site={site} route={route} />;
    case "invitation":
      // Another link is another invitation, from its beginning.
      return (
        <InvitationView
          key={route.text}
          site={site}
          text={route.text}
          takesFocus={moved}
        />
      );
    case "keys":
      return <KeysView keys={site.keys} />;
    case "developers":
      return <DevelopersView site={site} exchanges={exchanges} />;
  }
}

if (typeof document === "undefined") serveVerification();
