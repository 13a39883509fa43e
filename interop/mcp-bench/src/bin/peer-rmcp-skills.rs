//! Skills with rmcp, for the checks of `mcp_skills.mjs`.
//!
//! ```text
//! peer-rmcp-skills FOLDER    serves the skills of a folder over HTTP
//! peer-rmcp-skills URL       verifies the skills of a server, and prints their files in base64 and their folders as JSON
//! ```
use base64::prelude::{BASE64_STANDARD, Engine};
use rmcp::handler::server::skill_catalog::SkillCatalog;
use rmcp::model::{
    ClientConfig, GetSkillRequestParams, GetSkillResult, Implementation, ListResourcesResult,
    ListSkillsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceDirectoryRequestParams,
    ReadResourceDirectoryResult, ReadResourceRequestParams, ReadResourceResponse, ResourceContents,
    ServerCapabilities, ServerConfig, SkillResources, validate_skills,
};
use rmcp::service::{ClientLifecycleMode, RequestContext};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ClientHandler, ClientServiceExt, ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use std::{env, error::Error, sync::Arc};

#[derive(Clone, Debug)]
struct Server(Arc<SkillCatalog>);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_resources();
        ServerConfig::new(capabilities.enable_skills_with_directory_read().build())
    }

    async fn list_skills(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        Ok(self.0.list_skills())
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.0.get_skill(&request.uri)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        self.0.read_resource_directory(&request.uri)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.0.resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.0.read_resource(&request.uri).map(Into::into);
        read.ok_or_else(|| ErrorData::resource_not_found(request.uri, None))
    }
}

async fn serve(folder: &str) -> Result<(), Box<dyn Error>> {
    let server = Server(Arc::new(SkillCatalog::from_dir(folder)?));
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

#[derive(Clone, Debug)]
struct Client;

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(Default::default(), Implementation::new("interop", "1"))
    }
}

async fn read(url: &str) -> Result<Value, Box<dyn Error>> {
    let lifecycle =
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = Client.serve_with_lifecycle(transport, lifecycle).await?;
    let skills = client.list_all_skills().await?;
    validate_skills(&skills)?;
    let mut files = Map::new();
    let mut folders = Map::new();
    for skill in &skills {
        let got = client.get_skill(GetSkillRequestParams::new(&skill.uri)).await?;
        if got.skill != *skill {
            return Err(format!("skills/get of {} differs from skills/list", skill.uri).into());
        }
        let folder = skill.uri.trim_end_matches("/SKILL.md");
        let params = ReadResourceDirectoryRequestParams::new(folder);
        let children = client.read_resource_directory(params).await?.resources;
        let mut children: Vec<_> = children.into_iter().map(|child| child.uri.clone()).collect();
        children.sort();
        folders.insert(folder.to_owned(), json!(children));
        let SkillResources::Files(listed) = &skill.resources else {
            return Err(format!("{} does not list its files", skill.uri).into());
        };
        for file in listed {
            let answer = client.read_resource(ReadResourceRequestParams::new(&file.uri)).await?;
            let bytes = match answer.contents.first() {
                Some(ResourceContents::TextResourceContents { text, .. }) => text.clone().into(),
                Some(ResourceContents::BlobResourceContents { blob, .. }) => {
                    BASE64_STANDARD.decode(blob)?
                }
                _ => return Err(format!("{} has no contents", file.uri).into()),
            };
            file.verify(&bytes)?;
            files.insert(file.uri.clone(), BASE64_STANDARD.encode(bytes).into());
        }
    }
    client.cancel().await?;
    Ok(json!({ "files": files, "folders": folders }))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let target = env::args().nth(1).ok_or("expected a folder or a URL")?;
    if target.starts_with("http") {
        println!("{}", read(&target).await?);
        return Ok(());
    }
    serve(&target).await
}
