/** The page: its frame, and the view that the URL's fragment names. @module */

import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { FoundKeys } from "../browser/key_store.ts";
import { Page } from "./api.ts";
import { focusOn } from "./elements.tsx";
import { Explorer } from "./explore/explorer.tsx";
import { useFeed } from "./explore/use_feed.ts";
import { InvitationView } from "./invitation/invitation_view.tsx";
import { KeysView } from "./keys/keys_view.tsx";
import { useKeys } from "./keys/use_keys.ts";
import type { PageConfig } from "./page_config.ts";
import { readRoute, type Route } from "./route.ts";
import { SignInView } from "./sign_in/sign_in_view.tsx";

const TITLES: Readonly<Record<Route["view"], string>> = {
  "sign-in": "Sign in",
  explore: "Explore",
  invitation: "Invitation",
  keys: "Your keys",
};

/** The frame and its view. */
export function App({ config, found, Story }: {
  readonly config: PageConfig;
  /** The stored keys; loading them began before the first render. */
  readonly found: Promise<FoundKeys>;
  /** The demo's first view. */
  readonly Story: ComponentType | undefined;
}) {
  const keys = useKeys(found);
  const [route, setRoute] = useState(() => readRoute(location.hash));
  /** Whether the person came here from another view. */
  const [moved, setMoved] = useState(false);
  const main = useRef<HTMLElement>(null);
  const feed = useFeed(config, route);

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
    document.documentElement.dataset.view = route.view;
    if (!moved) return;
    scrollTo({ top: 0, behavior: "instant" });
    const heading = main.current?.querySelector<HTMLElement>("h1");
    if (heading) focusOn(heading);
  }, [route.view]);
  useEffect(() => {
    // For programs that wait until the page is ready.
    if (keys.ready) document.documentElement.dataset.ready = "true";
  }, [keys.ready]);

  function view() {
    switch (route.view) {
      case "sign-in":
        return Story && route.interaction === undefined
          ? <Story />
          : <SignInView interaction={route.interaction} autoFocus={moved} />;
      case "explore":
        return <Explorer view={feed} place={route.place} />;
      case "invitation":
        // Another link restarts the view with another invitation.
        return (
          <InvitationView
            key={route.text}
            text={route.text}
            autoFocus={moved}
          />
        );
      case "keys":
        return <KeysView addsDevice={route.addsDevice} />;
    }
  }

  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const link = (view: Route["view"], text: string) => (
    <a
      href={`#/${view}`}
      aria-current={view === route.view ? "page" : undefined}
    >
      {text}
    </a>
  );
  return (
    <Page.Provider value={{ config, keys }}>
      <a
        class="skip-link"
        href="#main"
        onClick={(event) => {
          // The fragment names a view, so this link must not change it.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="site-header">
        <div class="bar">
          <p class="brand">
            <img class="mark" src={icon?.href} alt="" />
            <span>SIG</span>
          </p>
          <nav aria-label="Views">
            {link("sign-in", config.demo ? "Demo" : "Sign in")}
            {link("explore", "Explore")}
            {link("keys", "Keys")}
          </nav>
        </div>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        {view()}
      </main>
      <footer class="site-footer">
        <p>SIG for Deno. This page loads nothing from other sites.</p>
      </footer>
    </Page.Provider>
  );
}
