declare module "*.css";

/**
 * The classes of a CSS Module. Import them with `import * as styles`, so that the build can inline
 * them.
 */
declare module "*.module.css" {
  const styles: Readonly<Record<string, string>>;
  export = styles;
}
