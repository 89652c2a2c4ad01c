import type { Plugin } from 'esbuild';

export const oneByteSource: Plugin;
