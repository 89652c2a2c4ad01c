import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { EndpointExplanation } from '../../../../../application/explain/explanation.js';
import type { Column } from '../../parts/grid/column.js';
import { Grid } from '../../parts/grid/grid.js';
import { Mark } from '../../parts/mark.js';
import type { Arrivals } from './endpoint-order.js';
import { endpointAddress, endpointText } from './words.js';

const MOST_ROWS = 12;

interface EndpointGridProps {
  /** Of the grid: one of its own in the document. */
  readonly name: string;
  /** In the order in which they are shown. */
  readonly endpoints: readonly EndpointExplanation[];
  readonly arrivals: Arrivals;
}

/** The endpoints of a service port, however many there are, and what is known of each. */
export function EndpointGrid({ name, endpoints, arrivals }: EndpointGridProps): JSX.Element {
  const columns = useMemo(() => columnsOf(arrivals), [arrivals]);
  return (
    <Grid
      name={name}
      kind="endpoints"
      label="Endpoints"
      rows={endpoints}
      columns={columns}
      keyOf={endpointAddress}
      most={MOST_ROWS}
    />
  );
}

function columnsOf(arrivals: Arrivals): readonly Column<EndpointExplanation>[] {
  const words = (endpoint: EndpointExplanation): string =>
    endpointText(endpoint, arrivals.get(endpointAddress(endpoint)));
  return [
    { name: 'address', title: 'Endpoint', text: endpointAddress },
    {
      name: 'words',
      title: 'State',
      text: words,
      cell: (endpoint) => (
        <>
          <Mark kind={endpoint.used ? 'good' : 'off'} /> {words(endpoint)}
        </>
      ),
    },
  ];
}
