/** The demo as a guided tour on the page: hired, signed in, let go, refused. @module */

import { useEffect, useState } from "preact/hooks";
import { Problem, request, usePage, useWork } from "../ui/api.ts";
import {
  Alert,
  Badge,
  Button,
  Card,
  Icon,
  TextForm,
  Waiting,
} from "../ui/elements.tsx";
import { NoKeys } from "../ui/keys/key_choice.tsx";
import { SignInCard } from "../ui/sign_in/sign_in_view.tsx";
import {
  counted,
  hostOf,
  shortened,
  typeLabel,
  visibleText,
} from "../ui/text.ts";
import { Time } from "../ui/time.tsx";
import type { DemoState } from "./demo_routes.ts";

type StepId = "key" | "hired" | "sign-in" | "apps" | "let-go" | "again" | "end";

const STEPS: readonly (readonly [StepId, title: string, detail: string])[] = [
  ["key", "Create a key", "It identifies you here."],
  ["hired", "Be hired", "The issuer signs that you are an employee."],
  ["sign-in", "Sign in", "The site reads the feed and lets you in."],
  ["apps", "Open two applications", "One key; the second does not ask."],
  ["let-go", "Be let go", "The issuer signs that you left."],
  ["again", "Try again", "Same key, same site, now refused."],
];

/** The tour next to the current step. */
export function Story() {
  const { keys, config } = usePage();
  const subject = keys.current?.did;
  const { state, refresh } = useDemoState(subject);
  const { busy, error, run } = useWork("Something went wrong. Try again.");
  /**
   * The sequence of the last event when this page last let the person in or
   * refused them.
   */
  const [answeredAt, setAnsweredAt] = useState(0);
  /** The applications that were open when the person was let go. */
  const [watched, setWatched] = useState<readonly string[]>([]);

  const relationship = state?.relationship ?? undefined;
  const apps = state?.apps ?? [];
  const isOpen = ({ open }: DemoState["apps"][number]) => open;
  const last = relationship?.sequence ?? 0;
  const isAnswered = answeredAt === last;
  const step = stepOf();
  const steps = STEPS.filter(([id]) => id !== "apps" || apps.length > 0);
  const found = steps.findIndex(([id]) => id === step);
  const done = found < 0 ? steps.length : found;
  const progress = found < 0
    ? "Done"
    : `Step ${done + 1} of ${steps.length}: ${steps[done]?.[1]}`;

  const act = (work: () => Promise<unknown>) =>
    run(async () => {
      await work();
      await refresh();
    });
  const enrol = (name?: string) =>
    act(() => request("/demo/enrol", { subject, name: name || undefined }));
  const letGo = () =>
    act(() => {
      setWatched(apps.filter(isOpen).map(({ name }) => name));
      const { relationship_id } = relationship ?? {};
      return request("/demo/revoke", { relationship_id });
    });

  function stepOf(): StepId {
    if (subject === undefined) return "key";
    if (relationship === undefined) return "hired";
    if (relationship.status === "active") {
      if (!isAnswered && !apps.some(isOpen)) return "sign-in";
      return apps.every(isOpen) ? "let-go" : "apps";
    }
    if (watched.length > 0) return "let-go";
    return isAnswered ? "end" : "again";
  }

  /** Links to both applications, then to the end. */
  function openApplications() {
    const next = apps.findIndex(({ open }) => !open);
    return (
      <>
        {apps.length > 0 && (
          <div class="next">
            <h3>Open two applications with it</h3>
            <p>
              Each is its own site, in a new tab. Your key answers for the
              first; the second asks you nothing.
            </p>
            <ul class="plain">
              {apps.map(({ name, url, how, open }, i) => (
                <li key={name} class="row">
                  <a
                    class={i === next ? "button primary" : "button"}
                    href={url}
                    target="_blank"
                    rel="noopener"
                  >
                    Open the {name.toLowerCase()}
                    <span class="visually-hidden">(in a new tab)</span>
                  </a>
                  <p>
                    {open
                      ? <Badge kind="success">you are in</Badge>
                      : <Badge kind="neutral">not open yet</Badge>}{" "}
                    <span class="quiet">{how}</span>
                  </p>
                </li>
              ))}
            </ul>
          </div>
        )}
        <div class="next">
          <h3>{apps.length > 0 ? "Then be let go" : "Now be let go"}</h3>
          <p>
            Act as the employer again: its key signs that you left. It notifies
            none of these sites.
          </p>
          <Button
            class={step === "let-go" ? "primary" : undefined}
            disabled={busy}
            onClick={() => void letGo()}
          >
            {busy ? "The issuer signs…" : "Revoke me as the issuer would"}
          </Button>
        </div>
      </>
    );
  }

  /** Shows the changes that happen without a click. */
  function closing() {
    const closed = apps.filter(({ name }) => watched.includes(name));
    return (
      <Card key="closing" title="Now watch, and click nothing">
        <p>Event #{last} says that you left. Everybody can read it.</p>
        <ul class="plain">
          {closed.map(({ name, open }) => (
            <li key={name} class="row">
              <p>
                <strong>{name}</strong> {open
                  ? <Badge kind="warning" icon="clock">still open</Badge>
                  : <Badge kind="danger">closed itself</Badge>}
              </p>
            </li>
          ))}
        </ul>
        <div role="status">
          {!closed.some(isOpen) && (
            <Alert kind="success">
              <p>
                {closed.length === 1 ? "It is closed." : "Both are closed."}
                {" "}
                Look at the other tabs: each says why.
              </p>
            </Alert>
          )}
        </div>
        <div class="actions">
          <Button class="primary" onClick={() => setWatched([])}>
            Try to sign in again
          </Button>
        </div>
      </Card>
    );
  }

  function card() {
    if (!keys.ready) return null;
    if (keys.missing !== undefined) {
      return <NoKeys next="The demo needs one. Try another browser." />;
    }
    if (step === "key") {
      return (
        <Card title="Create a key" autoFocus={false}>
          <p>
            It identifies you here, instead of a password. It is created in this
            browser and stays in it: even this page can’t read it, only ask it
            to sign.
          </p>
          <div class="actions">
            <Button
              class="primary"
              disabled={busy}
              onClick={() => void act(keys.create)}
            >
              Create my key
            </Button>
          </div>
        </Card>
      );
    }
    if (state === undefined) return <Waiting text="Asking the demo…" />;
    if (step === "hired") {
      return (
        <Card key="hired" title="Be hired">
          <p>
            Now act as the employer: its key signs an event that says your key
            is an employee’s, and the event is added to its public feed.
          </p>
          <TextForm
            id="enrol-name"
            label="Your name there"
            maxLength={100}
            initial="Alice"
            button={{
              class: "primary",
              disabled: busy,
              children: busy ? "The issuer signs…" : "Enrol me",
            }}
            onText={(name) => void enrol(name)}
          />
        </Card>
      );
    }
    if (watched.length > 0 && relationship?.status === "revoked") {
      return closing();
    }
    const next = step === "apps" || step === "let-go"
      ? openApplications()
      : step === "end" && (
        <Button
          disabled={busy}
          onClick={() => void enrol("Alice")}
        >
          Be hired again
        </Button>
      );
    // After a visit to an application the page has no sign-in state.
    if (next && step !== "end" && !isAnswered) {
      return <Card title="You are in" autoFocus={false}>{next}</Card>;
    }
    return (
      <SignInCard
        // A new key restarts the sign-in after an event.
        key={last}
        autoFocus
        next={next || undefined}
        onEnd={(end) => {
          const code = end instanceof Problem ? end.code : undefined;
          if (code === undefined || code === "relationship_denied") {
            setAnsweredAt(last);
          }
        }}
      />
    );
  }

  return (
    <>
      <header class="page-head">
        <h1 tabIndex={-1}>Hired, in, let go, refused</h1>
        <p class="lede">
          <strong>{hostOf(config.issuer ?? "")}</strong>{" "}
          publishes who works for it, signed. This site lets in only them. Every
          step is real and takes a second.
        </p>
        <p class="quiet" aria-live="polite">{progress}</p>
      </header>
      <div class="demo">
        <div class="stack">
          <p class="error" role="alert">{visibleText(error)}</p>
          {card()}
          {step === "end" && (
            <Card title="That is the whole idea." autoFocus={false}>
              <p>
                Nobody notified this site that you left. It read the same public
                feed that everybody can read, and so could any other site.
              </p>
            </Card>
          )}
        </div>
        <aside class="card tour" id="tour" aria-labelledby="tour-title">
          <h2 id="tour-title">The demo in {steps.length} steps</h2>
          <ol class="plain tour-steps">
            {steps.map(([id, title, detail], i) => (
              <li
                key={id}
                data-state={i < done ? "done" : i === done ? "now" : "later"}
                aria-current={i === done ? "step" : undefined}
              >
                <span class="step-mark" aria-hidden="true">
                  {i < done ? <Icon name="yes" /> : i + 1}
                </span>
                <div>
                  <strong>{title}</strong>
                  {i < done && <span class="visually-hidden">(done)</span>}
                  <p class="quiet">{detail}</p>
                </div>
              </li>
            ))}
          </ol>
          <h3>What the issuer has signed</h3>
          <Events state={state} />
          <p>
            <a href="#/explore">Verify this feed in the explorer</a>
          </p>
        </aside>
      </div>
    </>
  );
}

const POLL_MS = 1_000;

/** Polls the demo's state each second while the page is visible. */
function useDemoState(subject: string | undefined) {
  const [state, setState] = useState<DemoState | undefined>();
  const refresh = async () => {
    const query = new URLSearchParams(subject === undefined ? {} : { subject });
    setState(await request<DemoState>(`/demo/state?${query}`));
  };
  useEffect(() => {
    // On failure the last state stays.
    const look = () => void (document.hidden || refresh().catch(() => {}));
    look();
    const timer = setInterval(look, POLL_MS);
    return () => clearInterval(timer);
  }, [subject]);
  // The state of another key is ignored.
  return {
    state: state?.subject === (subject ?? null) ? state : undefined,
    refresh,
  };
}

/** The last events, newest first. */
function Events({ state }: { readonly state: DemoState | undefined }) {
  if (!state?.total) return <p class="quiet">Nothing yet.</p>;
  return (
    <>
      <p class="quiet">{counted(state.total, "event")}</p>
      <ol class="plain" reversed>
        {state.events.map(({ sequence, issued_at, subject, name, what }) => (
          <li key={sequence} value={sequence} class="next">
            <p>
              <span class="number">#{sequence}</span>{" "}
              <strong>
                {name === null ? shortened(subject) : visibleText(name)}
              </strong>: {typeLabel(what)}
            </p>
            <p class="quiet">
              <Time instant={issued_at} />
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}
