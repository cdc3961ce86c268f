/** Which feed: one that this server knows, or documents of one's own. @module */

import { useState } from "preact/hooks";
import { type Documents, readOne, readTexts } from "../feed/documents.ts";
import { OpenFiles } from "../parts/open_files.tsx";
import { hostOf } from "../parts/text.ts";

/** Gets documents, or throws what is wrong with them. */
export type ReadOwn = () => Documents | Promise<Documents>;

/** What choosing is drawn of. */
export interface SourcesProps {
  /** Those that are offered by name. */
  readonly issuers: readonly { readonly did: string }[];
  /** Which of them is open. */
  readonly issuer: number | undefined;
  readonly onIssuer: (index: number) => void;
  readonly onAgain: () => void;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onOwn: (read: ReadOwn) => void;
}

/** A line of ways in. */
export function Sources(props: SourcesProps) {
  const { issuers, issuer, onIssuer, onAgain, onFiles, onOwn } = props;
  return (
    <div class="sources">
      {issuers.length > 0 && (
        <div class="field">
          <label for="issuer">Feed</label>
          <select
            id="issuer"
            value={issuer === undefined ? "" : String(issuer)}
            onChange={(event) => {
              const { value } = event.currentTarget;
              if (value !== "") onIssuer(Number(value));
            }}
          >
            {issuer === undefined && <option value="">Your own files</option>}
            {issuers.map(({ did }, i) => (
              <option key={did} value={String(i)}>{hostOf(did)}</option>
            ))}
          </select>
        </div>
      )}
      {issuer !== undefined && (
        <button type="button" onClick={onAgain}>Read again</button>
      )}
      <OpenFiles
        id="files"
        hint="sig.json, jwks.json, did.json if there is one, and events.jsonl; or one JSON file that holds all four. They stay in this browser."
        onFiles={onFiles}
      />
      <details class="more paste" id="own-documents">
        <summary>Paste documents</summary>
        <Paste onOwn={onOwn} />
      </details>
    </div>
  );
}

const NOTHING = { metadata: "", jwks: "", did_document: "", feed: "" };
const FIELDS = [
  { name: "metadata", id: "paste-metadata", title: "sig.json" },
  { name: "jwks", id: "paste-jwks", title: "jwks.json" },
  { name: "did_document", id: "paste-did", title: "did.json (optional)" },
  { name: "feed", id: "paste-events", title: "events.jsonl" },
] as const;

function Paste({ onOwn }: { readonly onOwn: (read: ReadOwn) => void }) {
  const [all, setAll] = useState("");
  const [texts, setTexts] = useState(NOTHING);
  return (
    <form
      id="documents-form"
      onSubmit={(event) => {
        event.preventDefault();
        onOwn(() => all.trim() === "" ? readTexts(texts) : readOne(all));
      }}
    >
      <div class="field">
        <label for="paste-all">One JSON with everything</label>
        <textarea
          id="paste-all"
          rows={4}
          spellcheck={false}
          autocomplete="off"
          aria-describedby="paste-all-hint"
          value={all}
          onInput={(event) => setAll(event.currentTarget.value)}
        />
        <p id="paste-all-hint" class="hint">
          <code>{`{"metadata", "jwks", "did_document"?, "events"}`}</code>,
          where events is the feed’s text.
        </p>
      </div>
      <details class="more">
        <summary>Or the four documents</summary>
        {FIELDS.map(({ name, id, title }) => (
          <div class="field" key={id}>
            <label for={id}>{title}</label>
            <textarea
              id={id}
              rows={3}
              spellcheck={false}
              value={texts[name]}
              onInput={(event) =>
                setTexts({ ...texts, [name]: event.currentTarget.value })}
            />
          </div>
        ))}
      </details>
      <button class="primary" type="submit">Verify these documents</button>
    </form>
  );
}
