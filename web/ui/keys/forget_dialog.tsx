/** The warning before a key is gone. @module */

import { useEffect, useRef } from "preact/hooks";
import { shortened, shown } from "../parts/text.ts";
import type { BrowserKey } from "../libraries/login.ts";

/** Asks once more; Escape keeps the key. */
export function ForgetDialog({ leaving, onClose, onForget }: {
  readonly leaving: BrowserKey | undefined;
  readonly onClose: () => void;
  readonly onForget: (did: string) => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (leaving !== undefined) dialog.current?.showModal();
    else dialog.current?.close();
  }, [leaving]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby="forget-title"
      onClose={({ currentTarget }) => {
        // It is told later, and may be open for another key by then.
        if (!currentTarget.open) onClose();
      }}
    >
      <h2 id="forget-title">Forget this key?</h2>
      {leaving && (
        <p>
          <strong>{shown(leaving.name ?? leaving.place ?? "")}</strong>{" "}
          <code>{shortened(leaving.did)}</code>
        </p>
      )}
      <p>
        The key exists in this browser only. Nobody can bring it back, and sites
        that know you by it will not know you any more.
      </p>
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>Keep it</button>
        <button
          type="button"
          class="danger"
          onClick={() => leaving && onForget(leaving.did)}
        >
          Forget the key
        </button>
      </div>
    </dialog>
  );
}
