/** The explorer: verifies a feed in the browser and shows its content. @module */

import { MAX_EVIDENCE_BYTES } from "@sig/consumer/internal";
import type { ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { PageConfig } from "../page_config.ts";
import { Button, Dialog, OpenFiles, Panel, TextField } from "../elements.tsx";
import { exploreLink, type Route } from "../route.ts";
import { hostOf } from "../text.ts";
import { Ask } from "./ask.tsx";
import {
  type Documents,
  DocumentsError,
  fetchDocuments,
  readFiles,
  readJson,
} from "./documents.ts";
import { Events } from "./events.tsx";
import { Evidence, isEvidence } from "./evidence.tsx";
import { People } from "./people.tsx";
import { Verdict, type Verification } from "./verdict.tsx";
import { type OpenFeed, verifyDocuments } from "./verify_documents.ts";

interface Source {
  readonly read: () => Documents | Promise<Documents>;
  /** The expected DID of the documents, if known. */
  readonly issuer?: string;
}

/** The folder to show in commands for a person's own documents. */
const OWN_SOURCE = "./issuer";

/** Choose a feed, see its verdict, its people and events, and ask questions. */
export function Explorer({ config: { issuers }, route }: {
  readonly config: PageConfig;
  readonly route: Extract<Route, { view: "explore" }>;
}) {
  const [own, setOwn] = useState<Source | undefined>();
  const [evidence, setEvidence] = useState<Uint8Array | undefined>();
  const [isPasting, setPasting] = useState(false);
  const [reloads, setReloads] = useState(0);
  const index = route.issuer ?? 0;
  const isOwn = own !== undefined || evidence !== undefined;
  const known = isOwn ? undefined : issuers[index];
  const issuer = known && index;
  const source = useMemo<Source | undefined>(
    () =>
      known
        ? { read: () => fetchDocuments(known.base), issuer: known.did }
        : own,
    [known, own, reloads],
  );
  const verification = useVerification(source);
  useEffect(() => {
    if (route.issuer !== undefined) show({});
  }, [route.issuer]);

  const show = (now: { own?: Source; evidence?: Uint8Array }) => {
    setOwn(now.own);
    setEvidence(now.evidence);
  };
  const open = (bytes: Uint8Array, read: Source["read"]) => {
    // The URL must not name another feed than the one that is shown.
    if (route.issuer !== undefined) location.hash = "#/explore";
    show(isEvidence(bytes) ? { evidence: bytes } : { own: { read } });
  };
  const openFiles = async (files: readonly File[]) => {
    const [file, other] = files;
    if (file === undefined) return;
    const isAlone = other === undefined && file.size <= MAX_EVIDENCE_BYTES;
    open(
      isAlone ? new Uint8Array(await file.arrayBuffer()) : new Uint8Array(),
      () => readFiles(files),
    );
  };
  const feed = useMemo<OpenFeed | undefined>(() => {
    if (verification === undefined || !("verified" in verification)) return;
    const { verified } = verification;
    const { state } = verified;
    return state &&
      { ...verified, state, source: known?.did ?? OWN_SOURCE, issuer };
  }, [verification]);
  const isEmpty = verification === undefined && evidence === undefined;
  return (
    <div
      class="explore"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void openFiles([...event.dataTransfer?.files ?? []]);
      }}
    >
      <header class="toolbar">
        <h1 tabIndex={-1}>Explore a feed</h1>
        <Panel
          // Open until there is a feed.
          key={isEmpty}
          title="Feed"
          isOpen={isEmpty}
        >
          {issuers.length > 0 && (
            <select
              id="issuer"
              aria-label="Feed"
              value={issuer === undefined ? "" : String(issuer)}
              onChange={({ currentTarget: { value } }) => {
                if (value === "") return;
                show({});
                location.hash = exploreLink(Number(value));
              }}
            >
              {issuer === undefined && <option value="">Your own files</option>}
              {issuers.map(({ did }, i) => (
                <option key={did} value={String(i)}>{hostOf(did)}</option>
              ))}
            </select>
          )}
          {known && (
            <Button onClick={() => setReloads(reloads + 1)}>Reload</Button>
          )}
          <OpenFiles
            id="files"
            hint="sig.json, jwks.json, did.json if there is one, and events.jsonl; or one JSON file that holds all four; or an evidence file. They stay in this browser."
            onFiles={(files) => void openFiles(files)}
          />
          <Button onClick={() => setPasting(true)}>Paste</Button>
        </Panel>
      </header>
      {evidence && (
        <Evidence key={evidence} bytes={evidence} issuers={issuers} />
      )}
      <section id="verdict" aria-live="polite" hidden={evidence !== undefined}>
        {verification === undefined
          ? (
            <p class="empty card">
              This server knows no issuer. Open the documents of one: sig.json,
              jwks.json, did.json and events.jsonl; or an evidence file. You can
              drop them here. They stay in this browser, and every signature is
              verified in it.
            </p>
          )
          : (
            <Verdict
              verification={verification}
              origin={known
                ? "This server passed the documents on, so their origin is its word. The signatures are the issuer’s."
                : "These are your own documents. Only you know whether they are the issuer’s."}
              autoFocus={known === undefined}
            />
          )}
      </section>
      {feed && <Views feed={feed} query={route.query} />}
      {isPasting && (
        <PasteDialog
          onClose={() => setPasting(false)}
          onText={(text) => open(text, () => readJson(text))}
        />
      )}
    </div>
  );
}

function PasteDialog({ onClose, onText }: {
  readonly onClose: () => void;
  readonly onText: (text: Uint8Array<ArrayBuffer>) => void;
}) {
  const [text, setText] = useState("");
  return (
    <Dialog title="Paste documents" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onText(new TextEncoder().encode(text));
          onClose();
        }}
      >
        <TextField
          id="paste"
          label="One JSON object with all documents"
          rows={8}
          value={text}
          onValue={setText}
          hint={
            <>
              <code>{`{"metadata", "jwks", "did_document"?, "events"}`}</code>,
              where events is the feed’s text.
            </>
          }
        />
        <button class="primary" type="submit">Verify these documents</button>
      </form>
    </Dialog>
  );
}

const TABS: Readonly<Record<string, ComponentType<ViewProps>>> = {
  People,
  Events,
  Ask,
};

interface ViewProps {
  readonly feed: OpenFeed;
  readonly query: URLSearchParams;
}

/** The tabs; the URL selects one. */
function Views(props: ViewProps) {
  const wanted = props.query.get("tab");
  const [now, View] =
    Object.entries(TABS).find(([name]) => name.toLowerCase() === wanted) ??
      ["People", People];
  return (
    <div id="feed-views" class="toolbar">
      <nav class="tabs" aria-label="Of this feed">
        {Object.keys(TABS).map((name) => (
          <a
            key={name}
            href={exploreLink(props.feed.issuer, { tab: name.toLowerCase() })}
            aria-current={name === now ? "page" : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <View {...props} />
    </div>
  );
}

/** Verifies the source whenever it changes; the last change wins. */
function useVerification(source: Source | undefined) {
  const [verification, setVerification] = useState<Verification | undefined>();
  useEffect(() => {
    const abort = new AbortController();
    const show = (now: Verification | undefined) => {
      if (!abort.signal.aborted) setVerification(now);
    };
    const verify = async ({ read, issuer }: Source) => {
      show({ share: undefined });
      try {
        const verified = await verifyDocuments(await read(), {
          issuer,
          onProgress: (share) => show({ share }),
          signal: abort.signal,
        });
        show({ verified });
      } catch (error) {
        show({
          why: error instanceof DocumentsError
            ? error.message
            : "Something went wrong in this browser. Try again.",
        });
      }
    };
    if (source === undefined) show(undefined);
    else void verify(source);
    return () => abort.abort();
  }, [source]);
  return verification;
}
