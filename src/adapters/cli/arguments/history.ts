import { aboutService } from './subcommand.js';

/** Whose changes to show. */
export const history = aboutService(
  'history',
  'Show the last thousand changes that the proxy running on this node programmed, or those of one Service, the oldest first.',
);
