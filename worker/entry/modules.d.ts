declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

declare module "*.json" {
  const text: string;
  export default text;
}
