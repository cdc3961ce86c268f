/** The page: its frame, and the view that the address names. @module */

import {
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "preact/hooks";
import { DemoView } from "./demo/demo_view.tsx";
import { DevelopersView } from "./developers/developers_view.tsx";
import { ExploreView } from "./explore/explore_view.tsx";
import { createReadFeed } from "./feed/read_feed.ts";
import { InvitationView } from "./invitation/invitation_view.tsx";
import { KeysView } from "./keys/keys_view.tsx";
import { type Keys, useKeys } from "./keys/use_keys.ts";
import { focusOn } from "./parts/focus.ts";
import { Brand } from "./parts/icon.tsx";
import { Notice } from "./parts/notice.tsx";
import { readRoute, type Route } from "./parts/route.ts";
import type { Site } from "./site/site.ts";
import { shown } from "./parts/text.ts";
import { type Api, createApi, type Exchange } from "./server/api.ts";
import type { Config } from "./server/config.ts";
import { toProblem } from "./server/problem.ts";
import { SignInView } from "./sign_in/sign_in_view.tsx";

const TITLES: Readonly<Record<Route["view"], string>> = {
  "sign-in": "Sign in",
  explore: "Explore",
  invitation: "Invitation",
  developers: "For developers",
  keys: "Your keys",
};
const KEPT_EXCHANGES = 20;

/** Asks the server what it is, and shows the page. */
export function App() {
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const api = useMemo(
    () =>
      createApi((exchange) =>
        setExchanges((kept) => [exchange, ...kept].slice(0, KEPT_EXCHANGES))
      ),
    [],
  );
  // Asked for while the server is: neither waits for the other.
  const keys = useKeys();
  const [config, setConfig] = useState<Config | undefined>();
  const [trouble, setTrouble] = useState("");
  useLayoutEffect(() => {
    api.config().then(
      setConfig,
      (error) => setTrouble(toProblem(error).message),
    );
  }, []);
  if (config !== undefined) {
    return <Page api={api} config={config} keys={keys} exchanges={exchanges} />;
  }
  return (
    <main id="main">
      {trouble !== "" && (
        <div role="alert">
          <Notice kind="danger">
            <h1>The page can’t start</h1>
            <p>{shown(trouble)} Reload this page to try again.</p>
          </Notice>
        </div>
      )}
    </main>
  );
}

function Page({ api, config, keys, exchanges }: {
  readonly api: Api;
  readonly config: Config;
  readonly keys: Keys;
  readonly exchanges: readonly Exchange[];
}) {
  const readFeed = useMemo(() => createReadFeed(config), [config]);
  const [route, setRoute] = useState(() => readRoute(location.hash));
  const [moved, setMoved] = useState(false);
  const main = useRef<HTMLElement>(null);
  const site: Site = { config, api, keys, readFeed };

  useEffect(() => {
    const follow = () => {
      setMoved(true);
      setRoute(readRoute(location.hash));
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  useEffect(() => {
    document.title = `${TITLES[route.view]} · SIG`;
    if (!moved) return;
    scrollTo({ top: 0 });
    const heading = main.current?.querySelector<HTMLElement>("h1");
    if (heading) focusOn(heading);
  }, [route.view]);
  useEffect(() => {
    // Whoever waits for the page waits for its keys too.
    if (keys.ready) document.documentElement.dataset.ready = "true";
  }, [keys.ready]);

  return (
    <>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The fragment is the view's name; it stays.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="site-header">
        <div class="bar">
          <p class="brand">
            <Brand />
            <span>SIG</span>
          </p>
          <nav aria-label="Views">
            <Link view="sign-in" now={route.view}>
              {config.demo ? "Demo" : "Sign in"}
            </Link>
            <Link view="explore" now={route.view}>Explore</Link>
            <Link view="keys" now={route.view}>Keys</Link>
            <Link view="developers" now={route.view}>Developers</Link>
          </nav>
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <View site={site} route={route} exchanges={exchanges} moved={moved} />
      </main>
      <footer class="site-footer">
        <p>SIG for Deno. This page loads nothing from elsewhere.</p>
      </footer>
    </>
  );
}

function Link({ view, now, children }: {
  readonly view: Route["view"];
  readonly now: Route["view"];
  readonly children: string;
}) {
  return (
    <a href={`#/${view}`} aria-current={view === now ? "page" : undefined}>
      {children}
    </a>
  );
}

function View({ site, route, exchanges, moved }: {
  readonly site: Site;
  readonly route: Route;
  readonly exchanges: readonly Exchange[];
  readonly moved: boolean;
}) {
  switch (route.view) {
    case "sign-in":
      return site.config.demo && route.interaction === undefined
        ? <DemoView site={site} />
        : (
          <SignInView
            site={site}
            interaction={route.interaction}
            takesFocus={moved}
          />
        );
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
