declare module "*.css";

/** The classes of a CSS Module. Import them with `import * as styles`, to let the build inline them. */
declare module "*.module.css" {
  const styles: Readonly<Record<string, string>>;
  export = styles;
}
