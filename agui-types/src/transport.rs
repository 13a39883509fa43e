//! The encoding of a response body, and its negotiation.
//!
//! Spec: [Transports, 1.0](https://ag-ui.com/spec/1.0/basic/transports)
#[cfg(feature = "protobuf")]
use crate::proto;
use crate::sse;

/// The encoding of a response body.
///
/// Spec: [Transports, 1.0](https://ag-ui.com/spec/1.0/basic/transports)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BodyEncoding {
    /// Server-sent events ([`sse`]).
    Sse,
    /// Protobuf frames ([`proto`]).
    #[cfg(feature = "protobuf")]
    Protobuf,
}

impl BodyEncoding {
    /// Returns the encoding of the response to a request with this `Accept` header.
    ///
    /// With the feature `protobuf`, protobuf is used for each request that accepts it: by name, by
    /// `application/*` or by `*/*`, with any weight but zero. Preferences are not evaluated. For
    /// any other header, and without one, the response is server-sent events: a producer never
    /// refuses a request because of `Accept`.
    ///
    /// ```
    /// use agui_types::transport::BodyEncoding;
    ///
    /// assert_eq!(BodyEncoding::negotiate(Some("text/event-stream")), BodyEncoding::Sse);
    /// assert_eq!(BodyEncoding::negotiate(Some("application/json")), BodyEncoding::Sse);
    /// assert_eq!(BodyEncoding::negotiate(None), BodyEncoding::Sse);
    /// # #[cfg(feature = "protobuf")]
    /// assert_eq!(BodyEncoding::negotiate(Some("application/vnd.ag-ui.event+proto")), BodyEncoding::Protobuf);
    /// ```
    ///
    /// Spec: [HTTP + Protobuf, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-protobuf)
    pub fn negotiate(accept: Option<&str>) -> Self {
        #[cfg(feature = "protobuf")]
        if accept.is_some_and(|accept| admits(accept, proto::CONTENT_TYPE)) {
            return Self::Protobuf;
        }
        #[cfg(not(feature = "protobuf"))]
        let _ = accept;
        Self::Sse
    }

    /// Returns the encoding of a response by its `Content-Type`: protobuf for that media type,
    /// otherwise server-sent events, as the first-party client does. Parameters of the media type
    /// are ignored.
    ///
    /// Spec: [Response, 1.0](https://ag-ui.com/spec/1.0/basic/transports/http-sse#response)
    pub fn of_content_type(content_type: Option<&str>) -> Self {
        #[cfg(feature = "protobuf")]
        if content_type.is_some_and(|it| essence(it).eq_ignore_ascii_case(proto::CONTENT_TYPE)) {
            return Self::Protobuf;
        }
        #[cfg(not(feature = "protobuf"))]
        let _ = content_type;
        Self::Sse
    }

    /// Returns the media type of the response.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Sse => sse::CONTENT_TYPE,
            #[cfg(feature = "protobuf")]
            Self::Protobuf => proto::CONTENT_TYPE,
        }
    }
}

/// Returns a media type without its parameters.
#[cfg(feature = "protobuf")]
fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}

/// Returns whether an `Accept` header accepts a media type. The most specific entry decides.
#[cfg(feature = "protobuf")]
fn admits(accept: &str, media_type: &str) -> bool {
    let (kind, _) = media_type.split_once('/').unwrap_or_default();
    let ranges = accept.split(',').filter_map(|range| {
        let named = essence(range);
        let closeness = match named.split_once('/')? {
            ("*", "*") => 1,
            (other, "*") if other.eq_ignore_ascii_case(kind) => 2,
            _ if named.eq_ignore_ascii_case(media_type) => 3,
            _ => return None,
        };
        let weight = range.split(';').skip(1).find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then_some(value.trim())
        });
        let refused =
            weight.is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0));
        Some((closeness, !refused))
    });
    ranges.max().is_some_and(|(_, admitted)| admitted)
}
