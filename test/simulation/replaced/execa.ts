export const execa = () => { throw new Error("none"); };
