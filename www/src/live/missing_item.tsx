interface MissingItemProps {
  title: string;
  hint: string;
  id: string;
}

/** Says that the gateway knows no item with the id of the address. */
export function MissingItem({ title, hint, id }: MissingItemProps) {
  return (
    <div class="problem" role="alert">
      <p class="problem-title">{title}</p>
      <p>
        {hint} <code>{id}</code>
      </p>
    </div>
  );
}
