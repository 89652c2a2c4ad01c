export const compileLayout = 1;
