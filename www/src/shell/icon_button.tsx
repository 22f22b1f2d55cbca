import type { ComponentType } from "preact";

interface IconButtonProps {
  label: string;
  icon: ComponentType;
  onClick(): void;
}

/** A button without visible text. */
export function IconButton({ label, icon: Icon, onClick }: IconButtonProps) {
  return (
    <button type="button" class="quiet icon-button" aria-label={label} onClick={onClick}>
      <Icon />
    </button>
  );
}
