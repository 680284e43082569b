declare module "virtual:half/guard" {
  const text: string;
  export default text;
}
declare module "virtual:half/runtime" {
  const text: string;
  export default text;
}
