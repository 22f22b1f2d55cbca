/**
 * Keeps a translated page current. Browsers translate by replacing each text node with a `font`
 * element. The page would then change text nodes that are no longer in the document.
 */
export function followTranslation(root: Node): void {
  const translations = new WeakMap<Node, ChildNode>();
  const originals = new WeakMap<Node, { node: Text; data: string }>();

  /** Puts an emptied text node back beside its translation, so that its changes can be observed. */
  function keep(node: Text, translation: ChildNode): void {
    translations.set(node, translation);
    originals.set(translation, { node, data: node.data });
    node.data = "";
    translation.before(node);
  }

  function removeTranslation(node: Node): void {
    const translation = translations.get(node);
    if (translation === undefined) return;
    translations.delete(node);
    originals.delete(translation);
    translation.remove();
  }

  /** Restores the words when the reader returns to the original language. */
  function restore(translation: Node): void {
    const original = originals.get(translation);
    if (original === undefined) return;
    translations.delete(original.node);
    originals.delete(translation);
    original.node.data = original.data;
  }

  function noteRemoval(node: Node, record: MutationRecord): void {
    restore(node);
    if (!(node instanceof Text) || node.isConnected) return;
    if (translations.has(node)) {
      removeTranslation(node);
      return;
    }
    const { addedNodes, previousSibling, nextSibling } = record;
    const translation = [addedNodes[0], previousSibling, nextSibling].find(
      (other) => other?.nodeName === "FONT" && other.parentNode && !originals.has(other),
    );
    if (translation) keep(node, translation as ChildNode);
  }

  const observer = new MutationObserver((records) => {
    for (const record of records) {
      if (record.type === "characterData") removeTranslation(record.target);
      for (const node of record.removedNodes) noteRemoval(node, record);
    }
    // Ignore the changes made here.
    observer.takeRecords();
  });
  observer.observe(root, { childList: true, characterData: true, subtree: true });
}
