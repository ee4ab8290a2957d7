//! Countries by the names that Tavily knows.

/// ISO 3166-1 alpha-2 and name.
#[rustfmt::skip]
pub(crate) const COUNTRIES: &[(&str, &str)] = &[
    ("AR", "argentina"), ("AT", "austria"), ("AU", "australia"), ("BD", "bangladesh"),
    ("BE", "belgium"), ("BG", "bulgaria"), ("BO", "bolivia"), ("BR", "brazil"), ("CA", "canada"),
    ("CH", "switzerland"), ("CL", "chile"), ("CN", "china"), ("CO", "colombia"),
    ("CR", "costa rica"), ("CU", "cuba"), ("CY", "cyprus"), ("CZ", "czech republic"),
    ("DE", "germany"), ("DK", "denmark"), ("DZ", "algeria"), ("EC", "ecuador"), ("EE", "estonia"),
    ("EG", "egypt"), ("ES", "spain"), ("ET", "ethiopia"), ("FI", "finland"), ("FR", "france"),
    ("GB", "united kingdom"), ("GE", "georgia"), ("GH", "ghana"), ("GR", "greece"),
    ("GT", "guatemala"), ("HN", "honduras"), ("HR", "croatia"), ("HU", "hungary"),
    ("ID", "indonesia"), ("IE", "ireland"), ("IL", "israel"), ("IN", "india"), ("IQ", "iraq"),
    ("IR", "iran"), ("IS", "iceland"), ("IT", "italy"), ("JM", "jamaica"), ("JO", "jordan"),
    ("JP", "japan"), ("KE", "kenya"), ("KH", "cambodia"), ("KR", "south korea"), ("KW", "kuwait"),
    ("KZ", "kazakhstan"), ("LB", "lebanon"), ("LK", "sri lanka"), ("LT", "lithuania"),
    ("LU", "luxembourg"), ("LV", "latvia"), ("MA", "morocco"), ("MK", "north macedonia"),
    ("MM", "myanmar"), ("MN", "mongolia"), ("MT", "malta"), ("MX", "mexico"), ("MY", "malaysia"),
    ("NG", "nigeria"), ("NI", "nicaragua"), ("NL", "netherlands"), ("NO", "norway"),
    ("NP", "nepal"), ("NZ", "new zealand"), ("PA", "panama"), ("PE", "peru"),
    ("PH", "philippines"), ("PK", "pakistan"), ("PL", "poland"), ("PT", "portugal"),
    ("PY", "paraguay"), ("QA", "qatar"), ("RO", "romania"), ("RS", "serbia"), ("RU", "russia"),
    ("SA", "saudi arabia"), ("SE", "sweden"), ("SG", "singapore"), ("SI", "slovenia"),
    ("SK", "slovakia"), ("SN", "senegal"), ("SV", "el salvador"), ("TH", "thailand"),
    ("TN", "tunisia"), ("TR", "turkey"), ("TW", "taiwan"), ("TZ", "tanzania"), ("UA", "ukraine"),
    ("UG", "uganda"), ("US", "united states"), ("UY", "uruguay"), ("UZ", "uzbekistan"),
    ("VE", "venezuela"), ("VN", "vietnam"), ("ZA", "south africa"), ("ZW", "zimbabwe"),
];
