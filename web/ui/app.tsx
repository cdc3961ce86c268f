/** The page: its frame, and the view that the address names. @module */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ReadFeed } from "./feed/read_feed.ts";
import { useKeys } from "./keys/use_keys.ts";
import type { FoundKeys } from "./libraries/login.ts";
import { focusOn } from "./parts/focus.ts";
import { Brand } from "./parts/icon.tsx";
import { Notice } from "./parts/notice.tsx";
import { readRoute, type Route } from "./parts/route.ts";
import { loadMore, type More, type ViewProps } from "./site/more.ts";
import type { Site } from "./site/site.ts";
import { createApi, type Exchange } from "./server/api.ts";
import type { Config } from "./server/config.ts";
import { SignInView } from "./sign_in/sign_in_view.tsx";

const TITLES: Readonly<Record<Route["view"], string>> = {
  "sign-in": "Sign in",
  explore: "Explore",
  invitation: "Invitation",
  developers: "For developers",
  keys: "Your keys",
};
const KEPT_EXCHANGES = 20;
/** What only may be wanted is not asked for beside what is. */
const LATER_MS = 1_000;

/** The frame and its view. */
export function App({ config, found }: {
  readonly config: Config;
  /** Looked for since before the first picture. */
  readonly found: Promise<FoundKeys>;
}) {
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([]);
  const api = useMemo(
    () =>
      createApi((exchange) =>
        setExchanges((kept) => [exchange, ...kept].slice(0, KEPT_EXCHANGES))
      ),
    [],
  );
  const keys = useKeys(found);
  const readFeed = useMemo<ReadFeed>(
    () => async (...wanted) =>
      (await loadMore()).createReadFeed(config)(...wanted),
    [config],
  );
  const [route, setRoute] = useState(() => readRoute(location.hash));
  const [moved, setMoved] = useState(false);
  const [more, setMore] = useState<More | undefined>();
  const [trouble, setTrouble] = useState(false);
  const main = useRef<HTMLElement>(null);
  const site: Site = { config, api, keys, readFeed };

  const waits = more === undefined && !isLogin(route, config);

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
  }, [route.view, waits]);
  useEffect(() => {
    const load = () => void loadMore().then(setMore, () => setTrouble(true));
    if (waits) load();
    else if (keys.ready) {
      // A login comes first; its person may go on to the other views.
      const timer = setTimeout(load, LATER_MS);
      return () => clearTimeout(timer);
    }
  }, [waits, keys.ready]);
  useEffect(() => {
    // Whoever waits for the page waits for its keys too.
    const { dataset } = document.documentElement;
    if (!waits) dataset.view = route.view;
    if (keys.ready && !waits) dataset.ready = "true";
  }, [keys.ready, waits, route.view]);

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
        {waits && trouble && (
          <div role="alert">
            <Notice kind="danger">
              <h1>This view did not come</h1>
              <p>The server did not answer. Reload this page to try again.</p>
            </Notice>
          </div>
        )}
        <View
          more={more}
          site={site}
          route={route}
          exchanges={exchanges}
          moved={moved}
        />
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

/** A login, or what the second script draws. */
function View({ more, ...props }: ViewProps & {
  readonly more: More | undefined;
}) {
  const { site, route, moved } = props;
  if (isLogin(route, site.config)) {
    return (
      <SignInView
        site={site}
        interaction={route.interaction}
        takesFocus={moved}
      />
    );
  }
  return more && <more.OtherView {...props} />;
}

function isLogin(
  route: Route,
  { demo }: Config,
): route is Extract<Route, { view: "sign-in" }> {
  return route.view === "sign-in" &&
    (!demo || route.interaction !== undefined);
}
