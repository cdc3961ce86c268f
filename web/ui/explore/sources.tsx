/** Which feed: one that this server knows, or the person's own documents. @module */

import { useState } from "preact/hooks";
import type { KnownIssuer } from "../api.ts";
import { Button, Fold, OpenFiles } from "../elements.tsx";
import { hostOf } from "../text.ts";

/** The ways to choose a feed. */
export function Sources(
  { issuers, issuer, onIssuer, onReload, onFiles, onText }: {
    readonly issuers: readonly KnownIssuer[];
    /** Which of them is open. */
    readonly issuer: number | undefined;
    readonly onIssuer: (index: number) => void;
    readonly onReload: () => void;
    readonly onFiles: (files: readonly File[]) => void;
    readonly onText: (text: string) => void;
  },
) {
  const [text, setText] = useState("");
  return (
    <div class="sources">
      {issuers.length > 0 && (
        <div class="field">
          <label for="issuer">Feed</label>
          <select
            id="issuer"
            value={issuer === undefined ? "" : String(issuer)}
            onChange={({ currentTarget: { value } }) => {
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
      {issuer !== undefined && <Button onClick={onReload}>Reload</Button>}
      <OpenFiles
        id="files"
        hint="sig.json, jwks.json, did.json if there is one, and events.jsonl; or one JSON file that holds all four. They stay in this browser."
        onFiles={onFiles}
      />
      <Fold class="more paste" id="own-documents" title="Paste documents">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            onText(text);
          }}
        >
          <div class="field">
            <label for="paste-all">One JSON object with all documents</label>
            <textarea
              id="paste-all"
              rows={4}
              spellcheck={false}
              autocomplete="off"
              aria-describedby="paste-all-hint"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
            <p id="paste-all-hint" class="hint">
              <code>{`{"metadata", "jwks", "did_document"?, "events"}`}</code>,
              where events is the feed’s text.
            </p>
          </div>
          <button class="primary" type="submit">Verify these documents</button>
        </form>
      </Fold>
    </div>
  );
}
