export function saveFile(name: string, parts: BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads the URL after this task, so it cannot be revoked yet.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
