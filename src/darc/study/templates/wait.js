// Looks for the next wave of a study. Without this file there is a link that does the same.
"use strict";

window.setTimeout(() => window.location.reload(), 15000);
