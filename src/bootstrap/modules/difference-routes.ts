import { differenceRoutes as routesOfDifferences } from '../../adapters/debug/difference-routes.js';
import { Diff } from '../../application/difference/diff.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import { COMMAND_LINE, DIFFERENCE_ROUTES, SERVED_FAMILIES } from '../identifiers.js';
import { provide } from '../injection/provider.js';

/** What the kernel has otherwise than desired. */
export const differenceRoutes = provide(
  DIFFERENCE_ROUTES,
  { commandLine: COMMAND_LINE, families: SERVED_FAMILIES },
  ({ commandLine, families }) =>
    routesOfDifferences(
      new Diff(
        modeInForce(commandLine.configuration),
        families.map(({ loop }) => loop),
      ),
    ),
);
