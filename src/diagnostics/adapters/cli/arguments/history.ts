import { aboutServices, listOutputOptions, watchOption } from '../command-line/options.js';

/** Whose changes to show. */
export const history = aboutServices(
  'history',
  'Show the last thousand changes that the proxy running on this node programmed, or those of these Services, the oldest first.',
  [watchOption, ...listOutputOptions],
);
