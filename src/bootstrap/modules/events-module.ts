import { hostname } from 'node:os';
import { ApiEventRecorder } from '../../adapters/events/api-event-recorder.js';
import { LoggedEvents } from '../../adapters/events/logged-events.js';
import { API_CLIENT, CLOCK, COMMAND_LINE, EVENT_RECORDER, LOGGER } from '../identifiers.js';
import { provide, type Module } from '../injection/provider.js';

/** Where events go: to the API server, or to the log where there is none or nothing runs longer than one sync. */
export const eventsModule: Module = [
  provide(
    EVENT_RECORDER,
    { commandLine: COMMAND_LINE, api: API_CLIENT, clock: CLOCK, logger: LOGGER },
    ({ commandLine, api, clock, logger: root }) => {
      const { manifests, once, request } = commandLine;
      const logger = root.child({ caller: 'event-recorder' });
      if (manifests.length > 0 || once || request.name !== 'run') return new LoggedEvents(logger);
      return new ApiEventRecorder(api, hostname(), clock, logger);
    },
  ),
];
